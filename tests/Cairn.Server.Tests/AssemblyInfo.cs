using System.Runtime.Versioning;

// The tests fill the machine's sockets and measure allocations of the machine's threads, so they run one at a time.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

// Unix sockets have files with modes.
[assembly: UnsupportedOSPlatform("windows")]
