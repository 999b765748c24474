namespace Cairn;

/// <summary>What <see cref="CairnCollection.GetMany"/> found for one key.</summary>
/// <param name="IsHit">Whether there was a value.</param>
/// <param name="Offset">Where the value begins in the buffer.</param>
/// <param name="Info">What is known of the entry, its length included.</param>
public readonly record struct GetManyResult(bool IsHit, int Offset, EntryInfo Info);
