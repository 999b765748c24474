namespace Cairn.Eviction.Dueling;

// The shadow caches of one shard and the sampled requests that they have not seen yet. Hits are recorded without the lock; everything else is guarded
// by the shard's lock.
//
//   hit of a sampled key    --no lock--> recorded --+
//   insert of a sampled key --lock-----> recorded --+--lock, some at once--> shadows --> PolicyDuel
//
// A hit that fills the records replays them to the shadows. If another thread holds the lock, further hits are dropped until a later hit or insert gets it.
// If all hits between two misses were dropped, loops would look shorter to the shadows. Two hits at the same moment may overwrite each other's record.
// While the duel rests, only requests of watched keys are recorded, and only counted. The shadows stay as they are, because a larger one needs a long time
// to fill.
internal sealed class ShadowSet
{
    private const int Records = 64;
    private const int RecordsPerReplay = 16;
    private const int Missed = 256;

    private readonly PolicyDuel _duel;
    private readonly ulong[] _records = new ulong[Records];

    // Watched keys that missed lately, each in a place that its hash determines.
    private readonly uint[] _missed = new uint[Missed];
    private readonly ShadowCaches _shadows;
    private readonly uint[] _below = new uint[Shadows];
    private readonly uint _leastBelow;
    private readonly uint _sampleBelow;
    private readonly uint _watchBelow;
    private readonly ulong _askedAll;
    private QueuePolicy _followed;
    private int _recorded;
    private long _now;

    /// <summary>Creates shadows that hold what the cache holds, so that no candidate begins with a handicap.</summary>
    /// <param name="duel">The duel that counts the wins.</param>
    /// <param name="present">The sampled entries that are present, from the oldest.</param>
    public ShadowSet(PolicyDuel duel, IReadOnlyList<PresentKey> present)
    {
        _duel = duel;
        _followed = duel.Ruling;
        Sample = duel.Sample;
        _sampleBelow = duel.SampleBelow;
        _watchBelow = duel.WatchBelow;
        int candidates = QueuePolicy.Candidates.Count;
        var shadows = new (QueuePolicy Policy, int Capacity)[Shadows];
        for (int i = 0; i < Shadows; i++)
        {
            double scale = i < candidates ? 1 : Scales[i - candidates];
            _below[i] = i < candidates ? _sampleBelow : duel.SampleBelowFor(scale);

            // Counted, not computed from the share of the sample. If the sample has more keys by chance, the shadow has proportionally more room.
            uint below = _below[i];
            double capacity = scale * present.Count(key => (uint)key.Hash < below);
            shadows[i] = (i < candidates ? QueuePolicy.Candidates[i] : _followed, (int)Math.Clamp(Math.Round(capacity), 1, ShadowCaches.MaxTotalCapacity / Shadows));
        }

        _shadows = new ShadowCaches(shadows);
        _leastBelow = _below.Min();
        for (int i = 0; i < Shadows; i++)
        {
            _askedAll |= ShadowCaches.BitOf(i);
            bool hasUses = duel.BeginsWithUses && !shadows[i].Policy.ComparesFrequency;
            foreach (PresentKey key in present)
            {
                if ((uint)key.Hash < _below[i])
                {
                    _shadows.Begin(i, KeyOf(key.Hash), hasUses ? key.Uses : (byte)0, key.IsMain);
                }
            }
        }
    }

    /// <summary>The capacities of the further shadows that follow the ruling policy, as multiples of the cache's capacity.</summary>
    public static IReadOnlyList<double> Scales { get; } = [0.5, 2, 4];

    /// <summary>The number of shadows: one for each candidate and one for each of <see cref="Scales"/>.</summary>
    public static int Shadows { get; } = QueuePolicy.Candidates.Count + Scales.Count;

    /// <summary>The keys whose requests are recorded at this stage are those whose low 32 bits of the hash are below it.</summary>
    public uint SampleBelow => PolicyDuel.IsResting(Stage) ? _watchBelow : _sampleBelow;

    /// <summary>The value of <see cref="PolicyDuel.Sample"/> that the shadows were made for.</summary>
    public int Sample { get; }

    /// <summary>The stage of the duel that the shadows follow. Set it under the lock.</summary>
    public int Stage { get; set; }

    /// <summary>Records a hit of a sampled key. Takes no lock.</summary>
    /// <returns>True if there is no room for another record: <see cref="Replay()"/> is due.</returns>
    public bool RecordHit(ulong hash)
    {
        // A stale count overwrites or repeats a record, which only makes the sample a little less exact.
        int recorded = _recorded;
        if ((uint)recorded < Records)
        {
            _records[recorded] = hash | 1;
            _recorded = recorded + 1;
        }

        return recorded >= Records - 1;
    }

    /// <summary>Shows the recorded requests to the shadows. Call it under the lock.</summary>
    public void Replay() => Replay(Math.Min(_recorded, Records));

    /// <summary>Records an insert, and shows the recorded requests to the shadows when there are some. Call it under the lock.</summary>
    public void RecordInsert(ulong hash, long now)
    {
        if ((uint)hash >= SampleBelow)
        {
            return;
        }

        _now = now;
        int recorded = Math.Min(_recorded, Records - 1);
        _records[recorded] = hash & ~1UL;
        if (recorded + 1 < RecordsPerReplay)
        {
            _recorded = recorded + 1;
            return;
        }

        Replay(recorded + 1);
    }

    /// <summary>Forgets a key that was removed. Call it under the lock.</summary>
    public void Remove(ulong hash)
    {
        if ((uint)hash >= _sampleBelow)
        {
            return;
        }

        // The requests before the removal come first.
        if (_recorded is > 0 and var recorded)
        {
            Replay(Math.Min(recorded, Records));
        }

        _shadows.Remove(KeyOf(hash));
    }

    // The low bit of a record shows whether the request was a hit, so it is not part of the key.
    private static uint KeyOf(ulong hash) => (uint)(((hash | 1) * 0x9E37_79B9_7F4A_7C15) >> 32);

    private void Replay(int count)
    {
        ReadOnlySpan<ulong> records = _records.AsSpan(0, count);
        _recorded = 0;
        WatchedRequests watched = Watched(records);
        if (PolicyDuel.IsResting(Stage))
        {
            _duel.CountAtRest(watched);
            return;
        }

        QueuePolicy ruling = _duel.Ruling;
        if (!ReferenceEquals(ruling, _followed))
        {
            _followed = ruling;
            for (int i = ShadowTally.Cache; i < Shadows; i++)
            {
                _shadows[i].Follow(ruling);
            }
        }

        int contestants = ShadowTally.Contestants;
        Span<int> won = stackalloc int[contestants * contestants];
        Span<int> more = stackalloc int[Shadows * ShadowTally.Groups];
        won.Clear();
        more.Clear();
        bool doAllAgree = true;
        foreach (ulong hash in records)
        {
            ulong asked = AskedFor((uint)hash);
            ulong hits = _shadows.Request(KeyOf(hash), asked);
            int isHit = (int)(hash & 1);
            if (hits != (isHit != 0 ? asked : 0))
            {
                doAllAgree = false;
                Count(asked, hits, isHit, won, more.Slice(ShadowTally.GroupOf(hash) * Shadows, Shadows));
            }
        }

        if (doAllAgree)
        {
            _duel.Count(new ShadowTally(count, watched, default, default), _now);
            return;
        }

        Span<double> gained = stackalloc double[more.Length];
        for (int i = 0; i < gained.Length; i++)
        {
            gained[i] = more[i] * (double)(1L << 32) / _below[i % Shadows];
        }

        _duel.Count(new ShadowTally(count, watched, won, gained), _now);
    }

    private WatchedRequests Watched(ReadOnlySpan<ulong> records)
    {
        var watched = default(WatchedRequests);
        foreach (ulong hash in records)
        {
            if ((uint)hash >= _watchBelow)
            {
                continue;
            }

            if ((hash & 1) != 0)
            {
                watched.AddHit();
                continue;
            }

            uint key = KeyOf(hash);
            ref uint missed = ref _missed[key % Missed];
            watched.AddMiss(returns: missed == key);
            missed = key;
        }

        return watched;
    }

    private ulong AskedFor(uint hash)
    {
        if (hash < _leastBelow)
        {
            return _askedAll;
        }

        ulong asked = 0;
        for (int i = 0; i < _below.Length; i++)
        {
            asked |= hash < _below[i] ? ShadowCaches.BitOf(i) : 0;
        }

        return asked;
    }

    // Adds a request to the wins and to the hits that each shadow had more than the cache. Most often only few shadows differ from the cache.
    private static void Count(ulong asked, ulong hits, int isHit, Span<int> won, Span<int> more)
    {
        uint differing = 0;
        for (ulong rest = isHit != 0 ? asked & ~hits : hits; rest != 0; rest &= rest - 1)
        {
            int shadow = ShadowCaches.IndexOf(rest);
            more[shadow] += 1 - (2 * isHit);
            differing |= 1U << shadow;
        }

        uint all = (1U << ShadowTally.Contestants) - 1;
        uint others = differing & (all >> 1);
        if (others == 0)
        {
            return;
        }

        uint hitters = isHit != 0 ? all & ~others : others;
        uint missers = all & ~hitters;
        for (uint winners = hitters; winners != 0; winners &= winners - 1)
        {
            int row = BitOperations.TrailingZeroCount(winners) * ShadowTally.Contestants;
            for (uint losers = missers; losers != 0; losers &= losers - 1)
            {
                won[row + BitOperations.TrailingZeroCount(losers)]++;
            }
        }
    }
}

/// <summary>An entry that is present when shadows begin.</summary>
/// <param name="Hash">The hash of its key.</param>
/// <param name="Uses">The uses that its queue counts.</param>
/// <param name="IsMain">Whether it is in the main queue.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct PresentKey(ulong Hash, byte Uses, bool IsMain);

/// <summary>What some requests have shown.</summary>
/// <param name="requests">The number of requests.</param>
/// <param name="watched">Those of watched keys.</param>
/// <param name="won">
/// For each pair of contestants, the requests that the first one hit and the second one missed. Empty if all agreed, as <paramref name="gained"/>.
/// </param>
/// <param name="gained">For each group of keys, for each shadow, the estimated hits that the cache would have had more with it, negative if fewer.</param>
internal readonly ref struct ShadowTally(int requests, in WatchedRequests watched, ReadOnlySpan<int> won, ReadOnlySpan<double> gained)
{
    /// <summary>The number of groups of sampled keys. The spread of the groups shows how exact an estimate is.</summary>
    public const int Groups = 8;

    /// <summary>The index of the cache itself among the contestants, after the candidates.</summary>
    public static int Cache { get; } = QueuePolicy.Candidates.Count;

    public static int Contestants { get; } = Cache + 1;

    public int Requests { get; } = requests;

    public WatchedRequests Watched { get; } = watched;

    public ReadOnlySpan<int> Won { get; } = won;

    public ReadOnlySpan<double> Gained { get; } = gained;

    /// <summary>Returns the group of a key. The low half of the hash decides whether the key is sampled, and the highest bits choose its shard.</summary>
    public static int GroupOf(ulong hash) => (int)(hash >> 32) & (Groups - 1);
}
