using System.Buffers.Binary;

namespace Cairn.HitRate.Policies;

// This policy is the store itself. A miss sets the key to 100 bytes, and a hit reads them. The file has the largest size at which it never holds
// more entries than the other policies hold objects. The store's bookkeeping within the file is not counted.
internal sealed class CairnStorePolicy : ICachePolicy
{
    private const int ValueBytes = 100;
    private const int KeyBytes = sizeof(int);
    private const int EntryHeaderBytes = 20;
    private const int EntryBytes = (EntryHeaderBytes + KeyBytes + ValueBytes + 7) / 8 * 8;
    private const int SetsBetweenCounts = 16;

    private readonly CairnStore _store;
    private readonly CairnCollection _cache;
    private readonly bool _countsEntries;
    private readonly byte[] _value = new byte[ValueBytes];
    private readonly byte[] _destination = new byte[ValueBytes];
    private long _sets;

    /// <summary>Creates a store in a file, which <see cref="Dispose"/> deletes.</summary>
    /// <param name="folder">The folder of the file.</param>
    /// <param name="capacityBytes">The size of the file in bytes, from <see cref="CapacityFor"/>.</param>
    /// <param name="countsEntries">Whether to keep <see cref="MostEntries"/>, which takes time.</param>
    public CairnStorePolicy(string folder, long capacityBytes, bool countsEntries)
    {
        _store = Open(folder, capacityBytes);
        _cache = _store.DefaultCollection;
        _countsEntries = countsEntries;
    }

    /// <summary>Gets the largest number of entries that the policy has counted in the store. 0 if it does not count.</summary>
    public long MostEntries { get; private set; }

    /// <summary>Returns the size in bytes of the file of a store that holds at most <paramref name="entries"/> entries.</summary>
    /// <remarks>
    /// Only this method converts entries to bytes. It returns the size of the largest file that never holds more entries than that while different
    /// keys flood it. It finds the size by trial, because the store's layout decides how much of a file holds entries.
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
        if (_cache.TryGet(keyBytes, _destination, out int _))
        {
            return true;
        }

        _cache.Set(keyBytes, _value);
        if (_countsEntries && _sets++ % SetsBetweenCounts == 0)
        {
            MostEntries = Math.Max(MostEntries, _store.GetStatistics().Totals.Entries);
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
            // The file is too small for even one segment.
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
