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
//   I4  A duel that has settled rests, if the cache samples a large share of its keys: the shadows see no request. A few watched keys show how many of
//       their requests miss (WatchedRequests). The rest ends after a number of misses, which doubles from rest to rest, or when the workload has changed.
//
//   watching --some rounds without a change, the last without a near rival--> resting --its misses are used up--> watching
//                                                                                  `--the workload has changed--> watching, counts are cleared
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

    // A rest lasts for so many rounds at most if all keys are sampled, and for proportionally fewer if not. So sampled requests cost about as much in
    // a cache of few entries as in one of many.
    private const int LongestRest = 64;
    private const int FewestRequestsOfRound = 4096;
    private const int FewestKeysAtRest = 64;
    private const int RoundsBeforeRest = 8;
    private const int MostRoundsBeforeRest = 32;
    private const double DeviationsOfNearRival = 1;
    private const int WatchedOfSampledKeys = 8;
    private const int FewestWatchedRequests = 32;
    private const int MostWatchedRequestsOfRest = 1024;
    private const int MostWatchedRequests = 2048;

    // Of Student's distribution with one degree of freedom less than there are groups, for an interval of 95 %.
    private const double QuantileOfGroups = 2.365;

    private readonly Lock _lock = new();
    private readonly bool _isFixed;
    private readonly double[] _won = new double[ShadowTally.Contestants * ShadowTally.Contestants];
    private readonly double[] _gained = new double[ShadowSet.Shadows * ShadowTally.Groups];
    private readonly double[] _gainedInRound = new double[ShadowSet.Shadows * ShadowTally.Groups];
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

    // I4. The stage is odd while the duel rests. The watched requests are those of some rounds before, of the last round, of the rest, and of its end.
    private int _stage;
    private int _sample;
    private double _rounds = 1;
    private long _requestsOfRound;
    private int _settledRounds;
    private WatchedRequests _before;
    private WatchedRequests _round;
    private WatchedRequests _rest;
    private WatchedRequests _lately;

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

    /// <summary>Changes when a rest begins or ends. A stale read follows the earlier stage for a few requests more.</summary>
    public int Stage => Volatile.Read(ref _stage);

    /// <summary>Changes with the sampled keys: then other shadows begin. Read it after <see cref="Stage"/>, which changes with it.</summary>
    public int Sample => Volatile.Read(ref _sample);

    /// <summary>
    /// Whether shadows begin with the uses of the present entries. Without them, policies that move used entries begin with a handicap, which a large
    /// cache makes up for slowly.
    /// </summary>
    public bool BeginsWithUses => _sampledEntries > EntriesOfSmallCache;

    /// <summary>The sampled keys are those whose low 32 bits of the hash are below it. 0 until the cache evicts for the first time.</summary>
    public uint SampleBelow => _sampleBelow;

    /// <summary>The watched keys are those whose low 32 bits of the hash are below it (I4).</summary>
    public uint WatchBelow => _sampleBelow / WatchedOfSampledKeys;

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
                Volatile.Write(ref _sample, _sample + 1);
                Restart();
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

    /// <summary>Returns whether the duel rests at a stage.</summary>
    public static bool IsResting(int stage) => (stage & 1) != 0;

    /// <summary>Counts requests of watched keys while the duel rests.</summary>
    public void CountAtRest(in WatchedRequests watched)
    {
        lock (_lock)
        {
            if (!IsResting(_stage))
            {
                return;
            }

            _rest.Add(watched);
            _lately.Add(watched);
            if (_lately.DiffersFrom(_before))
            {
                // The counts of the duel are about another workload.
                Array.Clear(_won);
                _requests = 0;
                Restart();
            }
            else if (_rest.Misses >= Math.Max(1, _round.Misses) * _rounds)
            {
                AddRound();
                _rounds *= 2;
                Watch();
            }
            else if (_lately.Requests >= MostWatchedRequestsOfRest)
            {
                _lately.Halve();
            }
        }
    }

    /// <summary>Counts the requests of a shard and chooses the policy (I1).</summary>
    public void Count(in ShadowTally tally, long now)
    {
        int candidates = ShadowTally.Cache;
        lock (_lock)
        {
            if (IsResting(_stage))
            {
                return;
            }

            _requests += tally.Requests;
            _requestsOfRound += tally.Requests;
            _round.Add(tally.Watched);
            for (int i = 0; i < tally.Won.Length; i++)
            {
                _won[i] += tally.Won[i];
            }

            for (int i = 0; i < tally.Gained.Length; i++)
            {
                _gainedInRound[i] += tally.Gained[i];
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
                _settledRounds = 0;
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
                if (_requestsOfRound >= FewestRequestsOfRound)
                {
                    EndRound();
                }

                Halve();
            }
        }
    }

    public DuelStatistics GetStatistics()
    {
        lock (_lock)
        {
            double share = ShareOfRound();
            double[] gained = new double[ShadowSet.Shadows];
            double[] margins = new double[ShadowSet.Shadows];
            for (int i = 0; i < gained.Length; i++)
            {
                double mean = 0;
                double squares = 0;
                for (int group = 0; group < ShadowTally.Groups; group++)
                {
                    int index = (group * gained.Length) + i;
                    double ofGroup = _gained[index] + (share * _gainedInRound[index]);
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

    private void EndRound()
    {
        _before.Add(_round);
        if (_before.Requests >= MostWatchedRequests)
        {
            _before.Halve();
        }

        _settledRounds++;
        double most = LongestRest * ShareOf(0);
        bool canRest = most >= 1 && _sampledKeys >= FewestKeysAtRest && _round.Requests >= FewestWatchedRequests;
        if (canRest && (_settledRounds > MostRoundsBeforeRest || (_settledRounds > RoundsBeforeRest && !HasNearRival())))
        {
            // Release; the shards record less from their next replay or eviction on.
            _rounds = Math.Min(_rounds, most);
            _rest = default;
            _lately = default;
            Volatile.Write(ref _stage, _stage + 1);
            return;
        }

        AddRound();
        BeginRound();
    }

    private bool HasNearRival()
    {
        int ruling = IndexOf(_ruling);
        for (int candidate = 0; candidate < ShadowTally.Cache; candidate++)
        {
            double won = Won(candidate, ruling);
            double lost = Won(ruling, candidate);
            if (won - lost > (LeastLead + (LeastLeadOfRequests * _requests)) / 2 && won - lost > DeviationsOfNearRival * Math.Sqrt(won + lost))
            {
                return true;
            }
        }

        return false;
    }

    private void Restart()
    {
        AddRound();
        _before = default;
        _rounds = 1;
        _settledRounds = 0;
        Watch();
    }

    // Release, as in EndRound.
    private void Watch()
    {
        Volatile.Write(ref _stage, (_stage | 1) + 1);
        BeginRound();
    }

    private void BeginRound()
    {
        _requestsOfRound = 0;
        _round = default;
    }

    // The shadows would have gained as much in the rest as in the round before it.
    private void AddRound()
    {
        double share = ShareOfRound();
        for (int i = 0; i < _gained.Length; i++)
        {
            _gained[i] += share * _gainedInRound[i];
        }

        Array.Clear(_gainedInRound);
    }

    /// <summary>Returns how many rounds there were since the last one began, with the rest after it.</summary>
    private double ShareOfRound() => IsResting(_stage) ? 1 + (_rest.Requests / _round.Requests) : 1;

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
