namespace Cairn;

/// <summary>The progress of a long operation on a store.</summary>
/// <param name="What">The name of the present step for a user: <c>reading</c>, <c>copying</c>, <c>writing to disk</c>.</param>
/// <param name="Done">The number of bytes of the file that are finished.</param>
/// <param name="Total">The number of bytes of the file in this step.</param>
public readonly record struct StoreProgress(string What, long Done, long Total);
