namespace Cairn.Eviction.Dueling;

// A cache of keys without values: what a cache would hold of the sampled keys if it followed a policy. The same queues, ghosts and
// sketch as the first level has, over numbers only, 12 bytes a key. The caller synchronizes.
internal sealed class ShadowCache
{
    /// <summary>The largest capacity. Links have 16 bits, and 0 is no link.</summary>
    public const int MaxCapacity = ushort.MaxValue - 1;

    private readonly int _capacity;
    private readonly Node[] _nodes;
    private readonly ushort[] _buckets;
    private readonly GhostQueue _ghost = new();
    private Queue _small;
    private Queue _main;
    private ushort _free;
    private int _untouched = 1;
    private QueuePolicy _policy;
    private FrequencySketch? _sketch;

    /// <summary>Creates an empty shadow.</summary>
    /// <param name="policy">The policy that it follows.</param>
    /// <param name="capacity">The number of keys, from 1 to <see cref="MaxCapacity"/>.</param>
    public ShadowCache(QueuePolicy policy, int capacity)
    {
        Debug.Assert(capacity is > 0 and <= MaxCapacity, "A link has 16 bits.");
        _capacity = capacity;
        _nodes = new Node[capacity + 1];
        _buckets = new ushort[capacity];
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

    /// <summary>Inserts a key that the cache holds when the shadow begins.</summary>
    public void Begin(uint key, byte uses, bool isMain)
    {
        if (Find(key) == 0)
        {
            Insert(key, isMain);
            _nodes[Find(key)].Frequency = uses;
        }
    }

    /// <summary>Requests a key; a miss inserts it.</summary>
    /// <param name="key">Bits of the key's hash that are evenly distributed among the sampled keys.</param>
    /// <returns>True if the shadow held the key.</returns>
    public bool Request(uint key)
    {
        if (Find(key) is var found and not 0)
        {
            ref byte frequency = ref _nodes[found].Frequency;
            frequency = (byte)Math.Min(frequency + 1, QueuePolicy.MaxFrequency);
            return true;
        }

        Insert(key, isMain: false);
        return false;
    }

    /// <summary>Forgets a key that was removed from the cache.</summary>
    public void Remove(uint key)
    {
        if (Find(key) is var found and not 0)
        {
            Drop(found);
        }
    }

    private void Insert(uint key, bool isMain)
    {
        _sketch?.Add(key, 1);
        while (Count >= _capacity)
        {
            EvictOne();
        }

        isMain |= _policy.GhostsPerMainEntry > 0 && _ghost.TryTake(key);
        ushort node = Take(key);
        Append(ref isMain ? ref _main : ref _small, node, isMain);
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
                if (_nodes[oldest].Frequency >= _policy.UsesForMain)
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
                Move(first, ref _small, toMain: _nodes[first].Frequency == 0);
            }

            ushort last = _main.Count > 0 ? _main.Oldest : _small.Oldest;
            if (_nodes[last].Frequency == 0 || _main.Count == 0)
            {
                return last;
            }

            Move(last, ref _main, toMain: false);
        }
    }

    private ushort VictimOfMain()
    {
        while (true)
        {
            ushort oldest = _main.Oldest;
            ref Node node = ref _nodes[oldest];
            if (node.Frequency == 0)
            {
                return oldest;
            }

            node.Frequency--;
            _sketch?.Add(node.Key, 1);
            Unlink(ref _main, oldest);
            Append(ref _main, oldest, isMain: true);
        }
    }

    private int UsesOf(ushort node) => _sketch!.Estimate(_nodes[node].Key) + _nodes[node].Frequency;

    private void Promote(ushort node)
    {
        _sketch?.Add(_nodes[node].Key, _nodes[node].Frequency);
        Move(node, ref _small, toMain: true);
    }

    private void Move(ushort node, ref Queue from, bool toMain)
    {
        _nodes[node].Frequency = 0;
        Unlink(ref from, node);
        Append(ref toMain ? ref _main : ref _small, node, toMain);
    }

    private void Evict(ushort node, bool isRemembered)
    {
        uint key = _nodes[node].Key;
        _sketch?.Add(key, _nodes[node].Frequency);
        if (isRemembered && _policy.GhostsPerMainEntry > 0)
        {
            _ghost.Add(key, _policy.GhostSpan(_capacity));
        }

        Drop(node);
    }

    private ref ushort BucketOf(uint key) => ref _buckets[(int)(((ulong)key * (uint)_buckets.Length) >> 32)];

    private ushort Find(uint key)
    {
        ushort node = BucketOf(key);
        while (node != 0 && _nodes[node].Key != key)
        {
            node = _nodes[node].NextInBucket;
        }

        return node;
    }

    private ushort Take(uint key)
    {
        ushort node = _free;
        if (node == 0)
        {
            node = (ushort)_untouched++;
        }
        else
        {
            _free = _nodes[node].Newer;
        }

        ref ushort head = ref BucketOf(key);
        _nodes[node] = new Node { Key = key, NextInBucket = head };
        head = node;
        return node;
    }

    private void Drop(ushort node)
    {
        ref ushort link = ref BucketOf(_nodes[node].Key);
        while (link != node)
        {
            link = ref _nodes[link].NextInBucket;
        }

        link = _nodes[node].NextInBucket;
        Unlink(ref _nodes[node].IsMain ? ref _main : ref _small, node);
        _nodes[node].Newer = _free;
        _free = node;
    }

    private void Append(ref Queue queue, ushort node, bool isMain)
    {
        ref Node added = ref _nodes[node];
        added.IsMain = isMain;
        added.Newer = 0;
        added.Older = queue.Newest;
        (queue.Newest == 0 ? ref queue.Oldest : ref _nodes[queue.Newest].Newer) = node;
        queue.Newest = node;
        queue.Count++;
    }

    private void Unlink(ref Queue queue, ushort node)
    {
        ref Node removed = ref _nodes[node];
        (removed.Older == 0 ? ref queue.Oldest : ref _nodes[removed.Older].Newer) = removed.Newer;
        (removed.Newer == 0 ? ref queue.Newest : ref _nodes[removed.Newer].Older) = removed.Older;
        queue.Count--;
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Queue
    {
        public ushort Oldest;
        public ushort Newest;
        public int Count;
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Node
    {
        public uint Key;
        public ushort Newer;
        public ushort Older;
        public ushort NextInBucket;
        public byte Frequency;
        public bool IsMain;
    }
}
