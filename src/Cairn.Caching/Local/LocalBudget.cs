using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

/// <summary>What the whole first level may hold, and what it does hold. All shards draw on it.</summary>
internal sealed class LocalBudget(long maxEntries, long maxBytes)
{
    private PaddedCounters _counters;

    public long MaxEntries => maxEntries;

    public long MaxBytes => maxBytes;

    public long Entries => Volatile.Read(ref _counters.Entries);

    public long Bytes => Volatile.Read(ref _counters.Bytes);

    public bool HasTooManyEntries => Entries > maxEntries;

    public bool HasTooManyBytes => Bytes > maxBytes;

    public bool IsExceeded => HasTooManyEntries || HasTooManyBytes;

    /// <summary>Counts entries that came, or went.</summary>
    public void Add(int entries, long bytes)
    {
        if (entries != 0)
        {
            Interlocked.Add(ref _counters.Entries, entries);
        }

        if (bytes != 0)
        {
            Interlocked.Add(ref _counters.Bytes, bytes);
        }
    }

    // Every writer changes these; on lines of their own they disturb nobody else.
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct PaddedCounters
    {
        [FieldOffset(128)]
        public long Entries;

        [FieldOffset(136)]
        public long Bytes;
    }
}
