namespace Cairn.Caching.Local;

/// <summary>The limits and the present contents of the whole first level. All shards share it.</summary>
/// <param name="maxEntries">The maximum number of entries.</param>
/// <param name="maxBytes">The maximum number of bytes.</param>
/// <param name="isShared">Whether there is more than one shard; otherwise the lock of the only shard guards the budget.</param>
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

    /// <summary>Counts entries that were added, or removed if negative.</summary>
    public void Add(int entries, long bytes)
    {
        if (!isShared)
        {
            // An interlocked operation costs as much as ten plain ones. In both cases statistics may read one counter before the other.
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

    // Every writer changes these counters; cache lines of their own avoid false sharing.
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct PaddedCounters
    {
        [FieldOffset(128)]
        public long Entries;

        [FieldOffset(136)]
        public long Bytes;
    }
}
