namespace Cairn.Eviction.Dueling;

// Estimates how often each key was used lately: a count-min sketch (Cormode and Muthukrishnan, 2005) of 4-bit counters. A cache of some thousand entries
// has up to 16 counters for each entry, because keys that share counters look more popular than they are. A larger cache has four, so two bytes an entry.
// A key has two counters, and only the lower one is raised (conservative update): the estimate is the lower one. All
// counts are halved when ten times as many uses were counted as the cache has entries. The caller synchronizes.
internal sealed class FrequencySketch
{
    private const int FewestCountersPerEntry = 4;
    private const int MostCountersPerEntry = 16;
    private const int CountersOfSmallCache = 32 << 10;
    private const int UsesPerEntry = 10;
    private const int MaxCount = 15;
    private const int FewestCounters = 256;
    private const ulong WithoutCarriedBits = 0x7777_7777_7777_7777;

    private readonly ulong[] _words;
    private readonly uint _counters;
    private readonly long _usesUntilHalved;
    private long _uses;

    /// <summary>Creates a sketch without counts.</summary>
    /// <param name="entries">The number of entries of the cache, or of a part of it.</param>
    /// <param name="parts">The number of parts of the cache that have a sketch each.</param>
    public FrequencySketch(int entries, int parts = 1)
    {
        long counters = Math.Min((long)entries * MostCountersPerEntry, CountersOfSmallCache / parts);
        _counters = (uint)Math.Max(FewestCounters, Math.Max(counters, (long)entries * FewestCountersPerEntry));
        _words = new ulong[(_counters + 15) / 16];
        _usesUntilHalved = Math.Max(1, (long)entries * UsesPerEntry);
        Entries = entries;
    }

    /// <summary>The number of entries that the sketch was made for.</summary>
    public int Entries { get; }

    /// <summary>Returns the estimated number of uses, at most 15.</summary>
    public int Estimate(ulong hash)
    {
        (uint first, uint second) = CountersOf(hash);
        return Math.Min(CountAt(first), CountAt(second));
    }

    public void Add(ulong hash, int uses)
    {
        (uint first, uint second) = CountersOf(hash);
        int least = Math.Min(CountAt(first), CountAt(second));
        if (least == MaxCount || uses == 0)
        {
            return;
        }

        int raised = Math.Min(MaxCount, least + uses);
        RaiseTo(first, raised);
        RaiseTo(second, raised);
        _uses += uses;
        if (_uses >= _usesUntilHalved)
        {
            Halve();
        }
    }

    // The finalizer of SplitMix64: all hashes of a shard begin with the same bits.
    private (uint First, uint Second) CountersOf(ulong hash)
    {
        hash = (hash ^ (hash >> 30)) * 0xBF58_476D_1CE4_E5B9;
        hash = (hash ^ (hash >> 27)) * 0x94D0_49BB_1331_11EB;
        hash ^= hash >> 31;
        return (IndexOf((uint)hash), IndexOf((uint)(hash >> 32)));
    }

    private uint IndexOf(uint bits) => (uint)(((ulong)bits * _counters) >> 32);

    private int CountAt(uint counter) => (int)(_words[counter >> 4] >> ((int)(counter & 15) << 2)) & MaxCount;

    private void RaiseTo(uint counter, int count)
    {
        int present = CountAt(counter);
        if (present < count)
        {
            _words[counter >> 4] += (ulong)(count - present) << ((int)(counter & 15) << 2);
        }
    }

    private void Halve()
    {
        for (int i = 0; i < _words.Length; i++)
        {
            _words[i] = (_words[i] >> 1) & WithoutCarriedBits;
        }

        _uses /= 2;
    }
}
