// Some tests start servers, and some measure time. In parallel they would slow each other down.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
