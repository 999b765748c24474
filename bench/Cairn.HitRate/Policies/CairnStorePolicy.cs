using System.Buffers.Binary;

namespace Cairn.HitRate.Policies;

// The store itself: a miss sets the key to 100 bytes, a hit reads them. Its file is as large as it can be while it holds
// no more entries than the policies beside it hold objects; what it needs beside them, to work, is its own affair.
internal sealed class CairnStorePolicy : ICachePolicy
{
    private const int ValueBytes = 100;
    private const int KeyBytes = sizeof(int);
    private const int EntryHeaderBytes = 20;
    private const int EntryBytes = (EntryHeaderBytes + KeyBytes + ValueBytes + 7) / 8 * 8;
    private const int SetsBetweenCounts = 16;

    private readonly CairnStore _store;
    private readonly bool _countsEntries;
    private readonly byte[] _value = new byte[ValueBytes];
    private readonly byte[] _destination = new byte[ValueBytes];
    private long _sets;

    /// <summary>Makes a store in a file that goes with it.</summary>
    /// <param name="folder">Where the file is.</param>
    /// <param name="capacityBytes">Its size, from <see cref="CapacityFor"/>.</param>
    /// <param name="countsEntries">Whether to keep <see cref="MostEntries"/>, which takes time.</param>
    public CairnStorePolicy(string folder, long capacityBytes, bool countsEntries)
    {
        _store = Open(folder, capacityBytes);
        _countsEntries = countsEntries;
    }

    /// <summary>The most entries that the store was seen to hold, if it was asked to count.</summary>
    public long MostEntries { get; private set; }

    /// <summary>The file size for a store of at most <paramref name="entries"/> entries.</summary>
    /// <remarks>
    /// The one place that turns entries into bytes: the largest file that, flooded with different keys, at no time holds more
    /// than that many. Found by trying, because how much of a file holds entries follows from how the store lays it out and works.
    /// </remarks>
    public static long CapacityFor(string folder, int entries)
    {
        const int StepBytes = 4096;
        long enough = 0;
        var tooLarge = ((long)entries * EntryBytes * 2) + (1L << 20);
        while (tooLarge - enough > StepBytes)
        {
            var tried = (enough + tooLarge) / 2;
            if (MostEntriesOfFlood(folder, tried, entries * 2) <= entries)
            {
                enough = tried;
            }
            else
            {
                tooLarge = tried;
            }
        }

        return enough;
    }

    public bool Request(int key)
    {
        Span<byte> keyBytes = stackalloc byte[KeyBytes];
        BinaryPrimitives.WriteInt32LittleEndian(keyBytes, key);
        if (_store.TryGet(keyBytes, _destination, out int _))
        {
            return true;
        }

        _store.Set(keyBytes, _value);
        if (_countsEntries && _sets++ % SetsBetweenCounts == 0)
        {
            MostEntries = Math.Max(MostEntries, _store.GetStatistics().Entries);
        }

        return false;
    }

    public void Dispose()
    {
        var path = _store.Path;
        _store.Dispose();
        File.Delete(path);
    }

    private static long MostEntriesOfFlood(string folder, long capacityBytes, int keys)
    {
        try
        {
            using var flooded = new CairnStorePolicy(folder, capacityBytes, countsEntries: true);
            for (var key = 0; key < keys; key++)
            {
                flooded.Request(key);
            }

            return flooded.MostEntries;
        }
        catch (ArgumentOutOfRangeException)
        {
            // Too small for any segments at all.
            return 0;
        }
    }

    private static CairnStore Open(string folder, long capacityBytes)
    {
        var path = Path.Combine(folder, "hitrate.cairn");
        File.Delete(path);
        return CairnStore.Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            AllowsTinyCapacity = true,
            AverageEntryBytes = EntryBytes,
            FlushOnClose = false,
        });
    }
}
