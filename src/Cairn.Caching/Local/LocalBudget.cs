using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

/// <summary>What the whole first level may hold, and what it does hold. All shards draw on it.</summary>
/// <param name="maxEntries">The most entries.</param>
/// <param name="maxBytes">The most bytes.</param>
/// <param name="isShared">Whether more than one shard does; else the lock of the only one guards it.</param>
internal sealed class LocalBudget(long maxEntries, long maxBytes, bool isShared)
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
        if (!isShared)
        {
            // Each interlocked operation costs as much as ten others. Statistics may read one counter before the other either way.
            Volatile.Write(ref _counters.Entries, _counters.Entries + entries);
            Volatile.Write(ref _counters.Bytes, _counters.Bytes + bytes);
            return;
        }

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
