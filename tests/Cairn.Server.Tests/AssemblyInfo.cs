using System.Runtime.Versioning;

// The tests fill the machine's sockets and watch what its threads allocate: one at a time.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

// Unix sockets have files with modes.
[assembly: UnsupportedOSPlatform("windows")]
