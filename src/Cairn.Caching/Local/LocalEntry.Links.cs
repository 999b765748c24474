namespace Cairn.Caching.Local;

// How an entry is linked into the first level. All of it is changed under the lock of the entry's shard alone, but for the
// frequency; readers without the lock follow Next and raise the frequency.
internal sealed partial class LocalEntry
{
    /// <summary>The most uses that are counted, as S3-FIFO has it.</summary>
    public const int MaxFrequency = 3;

    /// <summary>Where it is in its queue.</summary>
    public uint Position;

    public LocalPlace Place;

    public bool Is(ulong hash, ReadOnlySpan<char> key) => Hash == hash && key.SequenceEqual(Key);

    /// <summary>Whether it may still be read, if only as a stale value, at a time of the cache's own clock.</summary>
    public bool IsUsable(long now) => now < UsableUntil;

    /// <summary>Counts a use. Uses at the same moment may count as one, which only makes a popular entry look a little less so.</summary>
    public void RaiseFrequency()
    {
        // Not written at the cap: the line stays shared among the processors that read a popular entry.
        byte frequency = Frequency;
        if (frequency < MaxFrequency)
        {
            Frequency = (byte)(frequency + 1);
        }
    }
}
