namespace Cairn.Eviction.Dueling;

// Chooses the policy of a cache. Shadow caches of a sample of the keys follow one candidate each (set dueling: Qureshi, Jaleel, Patt, Steely and
// Emer, "Adaptive Insertion Policies for High Performance Caching", ISCA 2007; here the sets are the same sampled keys for all candidates, as in
// Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC Construction with SHARDS", FAST 2015). Further shadows follow the ruling policy with
// other capacities, so that an operator knows what more memory would bring.
//
//   sampled request --> shadows of each shard --hit or miss of each candidate--> duel --> the policy that rules
//
//   I1  A candidate takes over when it has won more requests from the ruling policy than that policy from it, by more than two standard deviations
//       of a fair coin and by more than a thousandth of the requests. A request is won if one candidate hits and the other one misses.
//   I2  If the ruling policy's shadow has many more hits than the cache, the cache still has what an earlier policy kept and no request uses. Then the
//       shards evict the unused entries of their main queues first, once for each change of the policy.
//   I3  All counts of the duel are halved every 16 shadow capacities of requests, so that the present decides.
//
// docs/decisions/0053-a-duel-of-eviction-policies.md says how the parameters were chosen.
internal sealed class PolicyDuel
{
    private const int KeysPerCache = 256;
    private const int EntriesPerSampledKey = 256;
    private const int MostKeysPerCache = 1 << 15;
    private const int KeysOfLargerCapacities = 768;
    private const double Deviations = 2;
    private const int LeastLead = 4;
    private const double LeastLeadOfRequests = 0.001;
    private const int CapacitiesBetweenHalvings = 16;
    private const int EntriesOfSmallCache = 1024;
    private const double LeastLagOfRequests = 0.05;

    // Of Student's distribution with one degree of freedom less than there are groups, for an interval of 95 %.
    private const double QuantileOfGroups = 2.365;

    private readonly Lock _lock = new();
    private readonly bool _isFixed;
    private readonly double[] _won = new double[ShadowTally.Contestants * ShadowTally.Contestants];
    private readonly double[] _gained = new double[ShadowSet.Shadows * ShadowTally.Groups];
    private QueuePolicy _ruling;
    private uint _sampleBelow;
    private long _sampledEntries;
    private long _sampledKeys;
    private double _requests;
    private long _requestsUntilHalved;
    private long _changes;
    private long _since = long.MinValue;
    private int _handovers;
    private bool _mayLag;
    private long _requestsSinceChange;

    /// <summary>Creates the duel of a cache.</summary>
    /// <param name="only">The policy that rules without a duel; null for a duel of the candidates.</param>
    public PolicyDuel(QueuePolicy? only)
    {
        _isFixed = only is not null;
        _ruling = only ?? QueuePolicy.FirstOfSmall;
    }

    /// <summary>The policy that rules. A stale read follows the earlier policy for one eviction more.</summary>
    public QueuePolicy Ruling => Volatile.Read(ref _ruling);

    /// <summary>The number of times that the shards had to evict what an earlier policy kept (I2). A stale read delays this by one eviction.</summary>
    public int Handovers => Volatile.Read(ref _handovers);

    /// <summary>
    /// Whether shadows begin with the uses of the present entries. Without them, policies that move used entries begin with a handicap, which a large
    /// cache makes up for slowly.
    /// </summary>
    public bool BeginsWithUses => _sampledEntries > EntriesOfSmallCache;

    /// <summary>The sampled keys are those whose low 32 bits of the hash are below it. 0 until the cache evicts for the first time.</summary>
    public uint SampleBelow => _sampleBelow;

    /// <summary>Chooses the share of keys to sample for the present number of entries. Returns false if the policy is fixed.</summary>
    public bool TryBegin(long entries)
    {
        if (_isFixed)
        {
            return false;
        }

        lock (_lock)
        {
            entries = Math.Max(1, entries);
            if (_sampleBelow == 0 || HasOutgrown(entries))
            {
                if (_sampleBelow == 0 && entries > EntriesOfSmallCache)
                {
                    Volatile.Write(ref _ruling, QueuePolicy.First);
                }

                long keys = Math.Clamp(entries / EntriesPerSampledKey, Math.Min(entries, KeysPerCache), MostKeysPerCache);
                _sampledEntries = entries;
                _sampledKeys = keys;
                _sampleBelow = (uint)Math.Min(uint.MaxValue, (double)keys / entries * (1L << 32));
                _requestsUntilHalved = keys * CapacitiesBetweenHalvings;
            }

            return true;
        }
    }

    /// <summary>Returns whether the cache has so many more or fewer entries than when the sample was chosen that another one fits better.</summary>
    public bool HasOutgrown(long entries) => entries > _sampledEntries * 2 || entries < _sampledEntries / 2;

    /// <summary>
    /// The keys that a shadow of another capacity sees are those whose low 32 bits of the hash are below it. A larger capacity is simulated with all
    /// sampled keys if these are few, otherwise with fewer of them, so that its shadow is not larger than the others.
    /// </summary>
    /// <param name="scale">The capacity as a multiple of the cache's capacity.</param>
    public uint SampleBelowFor(double scale) =>
        (uint)(_sampleBelow * Math.Min(1, Math.Max(_sampledKeys, KeysOfLargerCapacities) / (scale * _sampledKeys)));

    /// <summary>Counts the requests of a shard and chooses the policy (I1).</summary>
    public void Count(in ShadowTally tally, long now)
    {
        int candidates = ShadowTally.Cache;
        lock (_lock)
        {
            _requests += tally.Requests;
            for (int i = 0; i < tally.Won.Length; i++)
            {
                _won[i] += tally.Won[i];
            }

            for (int i = 0; i < tally.Gained.Length; i++)
            {
                _gained[i] += tally.Gained[i];
            }

            int ruling = IndexOf(_ruling);
            int best = ruling;
            double lead = Math.Max(LeastLead, LeastLeadOfRequests * _requests);
            for (int candidate = 0; candidate < candidates; candidate++)
            {
                double won = Won(candidate, ruling);
                double lost = Won(ruling, candidate);
                if (won - lost > lead && IsProven(won, lost))
                {
                    best = candidate;
                    lead = won - lost;
                }
            }

            if (best != ruling)
            {
                // Release; a shard follows the policy from its next eviction on.
                Volatile.Write(ref _ruling, QueuePolicy.Candidates[best]);
                _changes++;
                _since = now;
                _requestsSinceChange = 0;
                _mayLag = true;
                for (int candidate = 0; candidate < candidates; candidate++)
                {
                    Won(candidate, ShadowTally.Cache) = 0;
                    Won(ShadowTally.Cache, candidate) = 0;
                }
            }
            else if (_mayLag && !_ruling.ComparesFrequency)
            {
                _requestsSinceChange += tally.Requests;
                double won = Won(ruling, ShadowTally.Cache);
                double lost = Won(ShadowTally.Cache, ruling);
                if (won - lost > LeastLagOfRequests * _requestsSinceChange && IsProven(won, lost))
                {
                    _mayLag = false;

                    // Release; a shard begins at its next eviction.
                    Volatile.Write(ref _handovers, _handovers + 1);
                }
            }

            _requestsUntilHalved -= tally.Requests;
            if (_requestsUntilHalved <= 0)
            {
                Halve();
            }
        }
    }

    public DuelStatistics GetStatistics()
    {
        lock (_lock)
        {
            double[] gained = new double[ShadowSet.Shadows];
            double[] margins = new double[ShadowSet.Shadows];
            for (int i = 0; i < gained.Length; i++)
            {
                double mean = 0;
                double squares = 0;
                for (int group = 0; group < ShadowTally.Groups; group++)
                {
                    double ofGroup = _gained[(group * gained.Length) + i];
                    double fromMean = ofGroup - mean;
                    mean += fromMean / (group + 1);
                    squares += fromMean * (ofGroup - mean);
                }

                gained[i] = mean * ShadowTally.Groups;

                // The variance of a sum of independent groups. If all keys are sampled, nothing is left to chance.
                double variance = squares * ShadowTally.Groups / (ShadowTally.Groups - 1) * (_sampleBelow == 0 ? 0 : 1 - ShareOf(i));
                margins[i] = QuantileOfGroups * Math.Sqrt(Math.Max(0, variance));
            }

            return new DuelStatistics(_ruling.Name, _changes, _since, gained, margins);
        }
    }

    /// <summary>Returns the share of the keys that a shadow sees.</summary>
    private double ShareOf(int shadow) =>
        (shadow < ShadowTally.Cache ? _sampleBelow : SampleBelowFor(ShadowSet.Scales[shadow - ShadowTally.Cache])) / (double)(1L << 32);

    private static int IndexOf(QueuePolicy policy)
    {
        for (int i = 0; i < QueuePolicy.Candidates.Count; i++)
        {
            if (ReferenceEquals(QueuePolicy.Candidates[i], policy))
            {
                return i;
            }
        }

        return 0;
    }

    private static bool IsProven(double won, double lost) => won - lost > LeastLead + (Deviations * Math.Sqrt(won + lost));

    private ref double Won(int winner, int loser) => ref _won[(winner * ShadowTally.Contestants) + loser];

    private void Halve()
    {
        _requestsUntilHalved = (long)(_sampleBelow / (double)(1L << 32) * _sampledEntries) * CapacitiesBetweenHalvings;
        _requests /= 2;
        for (int i = 0; i < _won.Length; i++)
        {
            _won[i] /= 2;
        }
    }
}

/// <summary>The policy that rules, and the estimated hits that others would have had more.</summary>
/// <param name="Ruling">The name of the policy that rules.</param>
/// <param name="Changes">The number of times that another policy took over.</param>
/// <param name="Since">The time of the last change, by the clock of the caller; <see cref="long.MinValue"/> if there was none.</param>
/// <param name="Gained">
/// The estimated hits that the cache would have had more since it is full, negative if fewer: first with each of <see cref="QueuePolicy.Candidates"/>,
/// then with each of <see cref="ShadowSet.Scales"/> of its capacity.
/// </param>
/// <param name="Margins">For each of these, half the width of its interval of 95 %: by how much the sampled keys can be unlike all keys.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct DuelStatistics(string Ruling, long Changes, long Since, IReadOnlyList<double> Gained, IReadOnlyList<double> Margins);
