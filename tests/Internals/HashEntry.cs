using System.Text;
using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Testing;

/// <summary>Creates and reads entries of the server's hash commands. The store does not interpret their content.</summary>
internal static class HashEntry
{
    public static unsafe WriteStatus Set(CairnStore store, string key, ReadOnlySpan<byte> bytes, WriteCondition condition = WriteCondition.Always)
    {
        var content = new EntryContent { Type = EntryType.Hash, Expiration = ResolvedExpiration.Never, First = bytes };
        byte[] keyBytes = Encoding.UTF8.GetBytes(key);
        fixed (byte* start = keyBytes)
        {
            return store.Engine.Write(store.Engine.Place(start, keyBytes.Length, 0), content, condition, 0, out _);
        }
    }

    /// <summary>Returns the bytes of a hash, or null if it does not exist.</summary>
    public static unsafe byte[]? Get(CairnStore store, string key)
    {
        byte[] keyBytes = Encoding.UTF8.GetBytes(key);
        byte[] buffer = new byte[1 << 20];
        fixed (byte* start = keyBytes)
        {
            ReadOutcome outcome = store.Engine.TryGet(
                store.Engine.Place(start, keyBytes.Length, 0), buffer, acceptStale: false, out EntryInfo info, acceptHash: true);
            return outcome == ReadOutcome.Hit && info.Type == EntryType.Hash ? buffer[..info.ValueBytes] : null;
        }
    }
}
