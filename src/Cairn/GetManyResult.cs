namespace Cairn;

/// <summary>The result of <see cref="CairnCollection.GetMany"/> for one key.</summary>
/// <param name="IsHit">Whether the key has a value.</param>
/// <param name="Offset">The position of the value in the buffer.</param>
/// <param name="Info">The entry's information, which includes its length.</param>
public readonly record struct GetManyResult(bool IsHit, int Offset, EntryInfo Info);
