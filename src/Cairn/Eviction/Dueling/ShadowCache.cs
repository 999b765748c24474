namespace Cairn.Eviction.Dueling;

// A cache of keys without values: what a cache would hold of the sampled keys if it followed a policy. The same queues, ghosts and
// sketch as the first level has. ShadowCaches has the keys and their states. The caller synchronizes.
internal sealed class ShadowCache
{
    private readonly ShadowCaches _all;
    private readonly int _index;
    private readonly int _capacity;
    private readonly GhostQueue _ghost = new();
    private Queue _small;
    private Queue _main;
    private QueuePolicy _policy;
    private FrequencySketch? _sketch;

    /// <summary>Creates an empty shadow.</summary>
    /// <param name="all">The shadows over the same keys.</param>
    /// <param name="index">The index of this one among them.</param>
    /// <param name="policy">The policy that it follows.</param>
    /// <param name="capacity">The number of keys, at least 1.</param>
    public ShadowCache(ShadowCaches all, int index, QueuePolicy policy, int capacity)
    {
        Debug.Assert(capacity > 0, "There is room for one at least.");
        _all = all;
        _index = index;
        _capacity = capacity;
        _policy = policy;
        Follow(policy);
    }

    /// <summary>The number of keys that it holds.</summary>
    public int Count => _small.Count + _main.Count;

    /// <summary>Follows another policy from now on. The sketch of a policy that compares frequencies begins empty, as in the cache.</summary>
    public void Follow(QueuePolicy policy)
    {
        _policy = policy;
        _sketch = policy.ComparesFrequency ? _sketch ?? new FrequencySketch(_capacity) : null;
    }

    /// <summary>Inserts a key that it does not hold, and evicts others.</summary>
    public void Insert(ushort slot, bool isMain)
    {
        uint key = _all.KeyOf(slot);
        _sketch?.Add(key, 1);
        while (Count >= _capacity)
        {
            EvictOne();
        }

        isMain |= _policy.GhostsPerMainEntry > 0 && _ghost.TryTake(key);
        Append(slot, isMain);
    }

    /// <summary>Forgets a key that it holds.</summary>
    public void Drop(ushort slot)
    {
        Unlink(slot);
        _all.SetGone(slot, _index);
    }

    private void EvictOne()
    {
        if (_policy.OrdersByUse)
        {
            Evict(OldestByUse(), isRemembered: false);
            return;
        }

        long smallRoom = _policy.SmallOf(_capacity);
        if (_policy.ComparesFrequency)
        {
            while (_small.Count > smallRoom)
            {
                Promote(_small.Oldest);
            }
        }

        if (_small.Count >= smallRoom || _main.Count == 0)
        {
            while (_small.Count > 0)
            {
                ushort oldest = _small.Oldest;
                if (_all.UsesOf(oldest, _index) >= _policy.UsesForMain)
                {
                    Promote(oldest);
                    continue;
                }

                if (_policy.ComparesFrequency && _main.Count > 0)
                {
                    ushort rival = VictimOfMain();
                    if (UsesOf(oldest) > UsesOf(rival) + _policy.Margin)
                    {
                        Promote(oldest);
                        Evict(rival, _policy.RemembersMain);
                        return;
                    }
                }

                Evict(oldest, isRemembered: true);
                return;
            }
        }

        Evict(VictimOfMain(), _policy.RemembersMain);
    }

    private ushort OldestByUse()
    {
        while (true)
        {
            while (_small.Count > _policy.SmallOf(_capacity))
            {
                ushort first = _small.Oldest;
                Move(first, toMain: _all.UsesOf(first, _index) == 0);
            }

            ushort last = _main.Count > 0 ? _main.Oldest : _small.Oldest;
            if (_all.UsesOf(last, _index) == 0 || _main.Count == 0)
            {
                return last;
            }

            Move(last, toMain: false);
        }
    }

    private ushort VictimOfMain()
    {
        while (true)
        {
            ushort oldest = _main.Oldest;
            byte uses = _all.UsesOf(oldest, _index);
            if (uses == 0)
            {
                return oldest;
            }

            _sketch?.Add(_all.KeyOf(oldest), 1);
            Unlink(oldest);
            Append(oldest, isMain: true);
            _all.SetUses(oldest, _index, (byte)(uses - 1));
        }
    }

    private int UsesOf(ushort slot) => _sketch!.Estimate(_all.KeyOf(slot)) + _all.UsesOf(slot, _index);

    private void Promote(ushort slot)
    {
        _sketch?.Add(_all.KeyOf(slot), _all.UsesOf(slot, _index));
        Move(slot, toMain: true);
    }

    // The uses begin at 0 again.
    private void Move(ushort slot, bool toMain)
    {
        Unlink(slot);
        Append(slot, toMain);
    }

    private void Evict(ushort slot, bool isRemembered)
    {
        uint key = _all.KeyOf(slot);
        _sketch?.Add(key, _all.UsesOf(slot, _index));
        if (isRemembered && _policy.GhostsPerMainEntry > 0)
        {
            _ghost.Add(key, _policy.GhostSpan(_capacity));
        }

        Drop(slot);
    }

    private void Append(ushort slot, bool isMain)
    {
        ref Queue queue = ref isMain ? ref _main : ref _small;
        _all.SetHeld(slot, _index, isMain);
        _all.Newer(slot, _index) = 0;
        _all.Older(slot, _index) = queue.Newest;
        (queue.Newest == 0 ? ref queue.Oldest : ref _all.Newer(queue.Newest, _index)) = slot;
        queue.Newest = slot;
        queue.Count++;
    }

    private void Unlink(ushort slot)
    {
        ref Queue queue = ref _all.IsInMain(slot, _index) ? ref _main : ref _small;
        ushort newer = _all.Newer(slot, _index);
        ushort older = _all.Older(slot, _index);
        (older == 0 ? ref queue.Oldest : ref _all.Newer(older, _index)) = newer;
        (newer == 0 ? ref queue.Newest : ref _all.Older(newer, _index)) = older;
        queue.Count--;
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Queue
    {
        public ushort Oldest;
        public ushort Newest;
        public int Count;
    }
}
