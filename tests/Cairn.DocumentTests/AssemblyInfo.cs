// Samples name files in the working directory, and a process has only one.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
