using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>An entry with the fields that only the server writes: a mark, and a version that a client chose.</summary>
internal static unsafe class MarkedEntry
{
    public static void Write(CairnStore store, string key)
    {
        fixed (byte* bytes = System.Text.Encoding.UTF8.GetBytes(key))
        {
            store.Engine.Memory.RaiseChosenVersions();
            var content = new EntryContent
            {
                Type = EntryType.Value, Expiration = ResolvedExpiration.Never, First = "value"u8, Marks = EntryFields.Stale, ChosenVersion = 77,
            };
            Assert.Equal(WriteStatus.Stored, store.Engine.Write(store.Engine.Place(bytes, key.Length, collection: 0), content, WriteCondition.Always, 0, out _));
        }
    }

    public static void AssertIsIn(CairnStore store, string key)
    {
        Assert.True(store.DefaultCollection.TryGetInfo(key, out EntryInfo info));
        Assert.Equal((EntryFields.Stale, 77ul), (info.Marks, info.ChosenVersion));
        Assert.True(store.Engine.Memory.HasChosenVersions);
    }
}
