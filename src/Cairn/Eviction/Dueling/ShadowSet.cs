namespace Cairn.Eviction.Dueling;

// The shadow caches of one shard and the sampled requests that they have not seen yet. Hits are recorded without the lock; everything else is guarded
// by the shard's lock.
//
//   hit of a sampled key    --no lock--> recorded --+
//   insert of a sampled key --lock-----> recorded --+--lock, some at once--> shadows --> PolicyDuel
//
// A hit that fills the records replays them to the shadows. If another thread holds the lock, further hits are dropped until a later hit or insert gets it.
// If all hits between two misses were dropped, loops would look shorter to the shadows. Two hits at the same moment may overwrite each other's record.
internal sealed class ShadowSet
{
    private const int Records = 64;
    private const int RecordsPerReplay = 16;

    private readonly PolicyDuel _duel;
    private readonly ulong[] _records = new ulong[Records];
    private readonly ShadowCache[] _shadows = new ShadowCache[Shadows];
    private readonly uint[] _below = new uint[Shadows];
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
        SampleBelow = duel.SampleBelow;
        int candidates = QueuePolicy.Candidates.Count;
        for (int i = 0; i < Shadows; i++)
        {
            double scale = i < candidates ? 1 : Scales[i - candidates];
            _below[i] = i < candidates ? SampleBelow : duel.SampleBelowFor(scale);

            // Counted, not computed from the share of the sample. If the sample has more keys by chance, the shadow has proportionally more room.
            uint below = _below[i];
            double capacity = scale * present.Count(key => (uint)key.Hash < below);
            QueuePolicy policy = i < candidates ? QueuePolicy.Candidates[i] : _followed;
            _shadows[i] = new ShadowCache(policy, (int)Math.Clamp(Math.Round(capacity), 1, ShadowCache.MaxCapacity));
            bool hasUses = duel.BeginsWithUses && !policy.ComparesFrequency;
            foreach (PresentKey key in present)
            {
                if ((uint)key.Hash < below)
                {
                    _shadows[i].Begin(KeyOf(key.Hash), hasUses ? key.Uses : (byte)0, key.IsMain);
                }
            }
        }
    }

    /// <summary>The capacities of the further shadows that follow the ruling policy, as multiples of the cache's capacity.</summary>
    public static IReadOnlyList<double> Scales { get; } = [0.5, 2, 4];

    /// <summary>The number of shadows: one for each candidate and one for each of <see cref="Scales"/>.</summary>
    public static int Shadows => QueuePolicy.Candidates.Count + Scales.Count;

    /// <summary>The value of <see cref="PolicyDuel.SampleBelow"/> that the shadows were made for.</summary>
    public uint SampleBelow { get; }

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
        if ((uint)hash >= SampleBelow)
        {
            return;
        }

        // The requests before the removal come first.
        if (_recorded is > 0 and var recorded)
        {
            Replay(Math.Min(recorded, Records));
        }

        foreach (ShadowCache shadow in _shadows)
        {
            shadow.Remove(KeyOf(hash));
        }
    }

    // The low bit of a record shows whether the request was a hit, so it is not part of the key.
    private static uint KeyOf(ulong hash) => (uint)(((hash | 1) * 0x9E37_79B9_7F4A_7C15) >> 32);

    private void Replay(int count)
    {
        int candidates = QueuePolicy.Candidates.Count;
        QueuePolicy ruling = _duel.Ruling;
        if (!ReferenceEquals(ruling, _followed))
        {
            _followed = ruling;
            for (int i = candidates; i < Shadows; i++)
            {
                _shadows[i].Follow(ruling);
            }
        }

        int contestants = ShadowTally.Contestants;
        Span<int> won = stackalloc int[contestants * contestants];
        Span<double> gained = stackalloc double[Shadows];
        Span<byte> hits = stackalloc byte[Records];
        won.Clear();
        for (int record = 0; record < count; record++)
        {
            hits[record] = (byte)((_records[record] & 1) << ShadowTally.Cache);
        }

        // One shadow after the other, so that its memory stays in the processor's cache.
        for (int i = 0; i < Shadows; i++)
        {
            ShadowCache shadow = _shadows[i];
            uint below = _below[i];
            int more = 0;
            for (int record = 0; record < count; record++)
            {
                ulong hash = _records[record];
                if ((uint)hash < below)
                {
                    int isHit = shadow.Request(KeyOf(hash)) ? 1 : 0;
                    more += isHit - (int)(hash & 1);
                    hits[record] |= (byte)(i < candidates ? isHit << i : 0);
                }
            }

            gained[i] = more * (double)(1L << 32) / below;
        }

        int all = (1 << contestants) - 1;
        foreach (int hit in hits[..count])
        {
            // In most requests all contestants agree.
            for (int winner = 0; hit != 0 && hit != all && winner < contestants; winner++)
            {
                for (int loser = 0; (hit >> winner & 1) != 0 && loser < contestants; loser++)
                {
                    won[(winner * contestants) + loser] += ~hit >> loser & 1;
                }
            }
        }

        _recorded = 0;
        _duel.Count(new ShadowTally(count, won, gained), _now);
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
/// <param name="won">For each pair of contestants, the requests that the first one hit and the second one missed.</param>
/// <param name="gained">For each shadow, the estimated hits of all keys that the cache would have had more with it, negative if fewer.</param>
internal readonly ref struct ShadowTally(int requests, ReadOnlySpan<int> won, ReadOnlySpan<double> gained)
{
    /// <summary>The index of the cache itself among the contestants, after the candidates.</summary>
    public static int Cache => QueuePolicy.Candidates.Count;

    public static int Contestants => Cache + 1;

    public int Requests { get; } = requests;

    public ReadOnlySpan<int> Won { get; } = won;

    public ReadOnlySpan<double> Gained { get; } = gained;
}
