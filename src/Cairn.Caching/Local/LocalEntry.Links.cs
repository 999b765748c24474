using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Local;

// The links of an entry in the first level. All are changed only under the lock of the entry's shard, except the frequency. Readers without
// the lock follow Next and raise the frequency.
internal sealed partial class LocalEntry
{
    /// <summary>The position of the entry in its queue.</summary>
    public uint Position;

    public LocalPlace Place;

    public bool Is(ulong hash, ReadOnlySpan<char> key) => Hash == hash && key.SequenceEqual(Key);

    /// <summary>Returns whether the entry may still be read, if only as a stale value, at a time of the cache's own clock.</summary>
    public bool IsUsable(long now) => now < UsableUntil;

    /// <summary>Counts a use. Simultaneous uses may count as one, which only makes a popular entry look slightly less popular.</summary>
    public void RaiseFrequency()
    {
        // Not written at the maximum: the cache line stays shared among the processors that read a popular entry.
        byte frequency = Frequency;
        if (frequency < QueuePolicy.MaxFrequency)
        {
            Frequency = (byte)(frequency + 1);
        }
    }
}
