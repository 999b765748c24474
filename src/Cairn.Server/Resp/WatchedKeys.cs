using Cairn.Concurrency;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// The keys of WATCH, with their state at that time. A key is unchanged in these cases:
//
//   a key that existed   its version is unchanged
//   a key that did not   it still does not exist, and the partition's invalidation ring shows no write of it since
//
// If the ring has wrapped around since WATCH, or was lost, that counts as a change.
internal sealed class WatchedKeys(CairnStore store, KeySpace keys, HeldMemory held)
{
    // The memory of a key beyond its bytes.
    private const int KeyBytes = 160;

    private readonly List<WatchedKey> _keys = [];
    private readonly Dictionary<ulong, int> _places = [];
    private long _bytes;

    /// <summary>Adds a key in its present state, unless it is already watched.</summary>
    public void Add(ReadOnlySpan<byte> key)
    {
        ulong hash = keys.PlaceOf(key).Hash;
        if (!_places.TryAdd(hash, _keys.Count) && key.SequenceEqual(_keys[_places[hash]].Key))
        {
            return;
        }

        long bytes = key.Length + KeyBytes;
        held.Charge(bytes);
        _bytes += bytes;

        // The ring's position is read first. So every later write shows in the ring or in the version.
        int partition = keys.PartitionOf(key);
        InvalidationCursor cursor = store.GetInvalidationCursor(partition);
        keys.TryGetInfo(key, out EntryInfo info);
        _keys.Add(new WatchedKey(key.ToArray(), partition, hash, cursor, info.Version));
    }

    /// <summary>Returns the memory of the keys. The object is not used afterwards.</summary>
    public void Release() => held.Charge(-_bytes);

    /// <summary>Adds the partitions of the keys to a hold.</summary>
    public void AddTo(PartitionHold hold)
    {
        foreach (WatchedKey watched in _keys)
        {
            hold.Add(watched.Partition);
        }
    }

    /// <summary>Returns whether all keys are as they were when they were added. The caller holds their partitions.</summary>
    public bool AreUnchanged()
    {
        Span<ulong> hashes = stackalloc ulong[64];
        foreach (WatchedKey watched in _keys)
        {
            keys.TryGetInfo(watched.Key, out EntryInfo info);
            if (info.Version != watched.Version || (watched.Version == 0 && WasWritten(watched, hashes)))
            {
                return false;
            }
        }

        return true;
    }

    private bool WasWritten(in WatchedKey watched, Span<ulong> hashes)
    {
        InvalidationCursor cursor = watched.Cursor;
        while (true)
        {
            InvalidationStatus status = store.ReadInvalidations(watched.Partition, ref cursor, hashes, out int count);
            if (status == InvalidationStatus.None)
            {
                return false;
            }

            if (status == InvalidationStatus.Overrun || hashes[..count].Contains(watched.Hash))
            {
                return true;
            }
        }
    }

    private readonly record struct WatchedKey(byte[] Key, int Partition, ulong Hash, InvalidationCursor Cursor, ulong Version);
}
