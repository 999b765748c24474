using System.Text;
using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Tests.Engine;

/// <summary>An entry that was replaced or removed is marked, so that cleaning its segment need not look for its slot.</summary>
public sealed unsafe class GarbageMarkTests : StoreTest
{
    private const string Key = "key";

    public static TheoryData<string, Action<CairnCollection>> Replacements => new()
    {
        { "plain", cache => cache.Set(Key, "2"u8) },
        { "deadline", cache => cache.Set(Key, "2"u8, Expiration.After(TimeSpan.FromMinutes(1))) },
        { "sliding", cache => cache.Set(Key, "2"u8, Expiration.Sliding(TimeSpan.FromMinutes(1))) },
        { "long", cache => cache.Set(Key, new byte[100_000]) },
        { "append", cache => cache.Append(Key, "2"u8) },
        { "increment", cache => cache.Increment(Key, 1, out _) },
        { "touch", cache => cache.Touch(Key, TimeSpan.FromMinutes(1)) },
        { "remove", cache => cache.Remove(Key) },
    };

    [Theory]
    [MemberData(nameof(Replacements))]
    public void Replaced_entry_is_marked(string name, Action<CairnCollection> replace)
    {
        _ = name;
        foreach (CairnCollection cache in new[] { Cache, Store.Collection("named") })
        {
            uint number = cache == Cache ? 0u : 1u;
            cache.Set(Key, "1"u8);
            byte* old = PlaceOf(number);
            Assert.Equal(EntryType.Value, new EntryView(old).Type);
            long length = new EntryView(old).PaddedBytes;

            replace(cache);

            Assert.Equal(EntryType.None, new EntryView(old).Type);
            Assert.Equal(length, new EntryView(old).PaddedBytes); // A walk over the segment finds the next entry.
        }
    }

    [Theory]
    [MemberData(nameof(Replacements))]
    public void Kept_entry_is_not_marked_when_it_is_replaced(string name, Action<CairnCollection> replace)
    {
        _ = name;
        CairnCollection kept = Store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep });
        kept.Set(Key, "1"u8);
        byte* old = PlaceOf(1);

        replace(kept);

        Assert.Equal(EntryType.Value, new EntryView(old).Type);
    }

    private byte* PlaceOf(uint collection)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(Key);
        fixed (byte* start = bytes)
        {
            StoreMemory memory = Store.Engine.Memory;
            KeyPlacement place = memory.Place(memory.HashKey(start, bytes.Length, collection));
            Assert.True(HashIndex.Find(memory, place, start, bytes.Length, collection, out Located located));
            return located.Entry.Start;
        }
    }
}
