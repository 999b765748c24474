// The tests fill the machine's sockets and watch what its threads allocate: one at a time.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
