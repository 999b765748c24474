namespace Cairn.Keys;

/// <summary>A checked key during an operation: its pinned bytes, its collection, and its place in the index.</summary>
internal readonly unsafe struct KeyRef(byte* bytes, int length, uint collection, Storage.KeyPlacement place)
{
    public readonly byte* Bytes = bytes;
    public readonly int Length = length;
    public readonly uint Collection = collection;
    public readonly Storage.KeyPlacement Place = place;
}
