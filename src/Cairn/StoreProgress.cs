namespace Cairn;

/// <summary>How far long work on a store has got.</summary>
/// <param name="What">What is being done, as a word for a person: <c>reading</c>, <c>copying</c>, <c>writing to disk</c>.</param>
/// <param name="Done">Bytes of the file that are done with.</param>
/// <param name="Total">Bytes of the file that are to be done in this step.</param>
public readonly record struct StoreProgress(string What, long Done, long Total);
