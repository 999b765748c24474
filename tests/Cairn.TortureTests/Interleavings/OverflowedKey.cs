using System.Globalization;
using System.Runtime.CompilerServices;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>A kept key in an overflow bucket, because its own buckets are full of other kept keys, and changes to those.</summary>
internal sealed unsafe class OverflowedKey
{
    private readonly Stage _stage;
    private readonly CairnCollection _kept;
    private readonly List<string> _neighbours = [];
    private readonly byte[] _key = Stage.PinnedKey("overflowed");

    public OverflowedKey(Stage stage)
    {
        _stage = stage;
        _kept = stage.Store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash });

        // One more than both buckets hold, so that one can be exchanged.
        KeyPlacement own = Ref.Place;
        for (int i = 0; _neighbours.Count <= 2 * Bucket.Slots; i++)
        {
            string name = i.ToString(CultureInfo.InvariantCulture);
            if (PlaceOf(name) is var place && IsOwn(own, place.Primary) && IsOwn(own, place.Alternate))
            {
                _neighbours.Add(name);
            }
        }

        foreach (string neighbour in _neighbours.Skip(1))
        {
            Assert.True(_kept.Set(neighbour, [1]));
        }

        Assert.True(_kept.Set(_key, [1]));
        KeyRef key = Ref;
        Assert.True(HashIndex.FindLocked(stage.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located located));
        Assert.True(
            located.Bucket == stage.Memory.OverflowBucket(key.Place, 0) || located.Bucket == stage.Memory.OverflowBucket(key.Place, 1));
        stage.Keep();
    }

    /// <summary>Gets the engine's reference to the key.</summary>
    public KeyRef Ref => _stage.Store.Engine.Place((byte*)Unsafe.AsPointer(ref _key[0]), _key.Length, _kept.Number);

    public byte[]? Get() => _kept.Get(_key);

    /// <summary>Frees room in the key's own buckets, fills it with another key, and writes the key itself again.</summary>
    public void Change()
    {
        Assert.True(_kept.Remove(_neighbours[1]));
        Assert.True(_kept.Set(_neighbours[0], [1]));
        Assert.True(_kept.Set(_key, [2]));
    }

    private static bool IsOwn(in KeyPlacement own, int bucket) => bucket == own.Primary || bucket == own.Alternate;

    private KeyPlacement PlaceOf(string name)
    {
        Span<byte> bytes = stackalloc byte[16];
        int length = System.Text.Encoding.UTF8.GetBytes(name, bytes);
        fixed (byte* key = bytes)
        {
            return _stage.Store.Engine.Place(key, length, _kept.Number).Place;
        }
    }
}
