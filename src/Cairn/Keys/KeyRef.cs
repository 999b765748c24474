namespace Cairn.Keys;

/// <summary>A checked key while an operation runs: pinned bytes, the collection it belongs to, and where it is placed.</summary>
internal readonly unsafe struct KeyRef(byte* bytes, int length, uint collection, Storage.KeyPlacement place)
{
    public readonly byte* Bytes = bytes;
    public readonly int Length = length;
    public readonly uint Collection = collection;
    public readonly Storage.KeyPlacement Place = place;
}
