namespace Cairn;

/// <summary>One entry of a <see cref="CairnCollection.SetMany"/>.</summary>
/// <param name="Key">1 to 65,536 bytes.</param>
/// <param name="Value">The value.</param>
/// <param name="Expiration">When the value expires. The default is the collection's.</param>
/// <param name="Flags">32 bits that the store does not interpret.</param>
public readonly record struct StoreItem(
    ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value, Expiration Expiration = default, uint Flags = 0);
