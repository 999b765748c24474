// Samples name files in the working directory, of which a process has one.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
