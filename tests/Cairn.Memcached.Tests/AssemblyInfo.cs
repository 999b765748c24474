// Servers, and tests of how long something takes: they would take the processors from each other.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
