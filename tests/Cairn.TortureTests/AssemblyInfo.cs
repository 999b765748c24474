// Some tests wait for processes and servers, the others compute. A third thread lets both processors of a small machine compute meanwhile.
[assembly: CollectionBehavior(MaxParallelThreads = 3)]
