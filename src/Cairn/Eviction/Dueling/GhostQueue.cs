namespace Cairn.Eviction.Dueling;

// The keys that were evicted lately, by 32 bits of their hashes. A key that is set again soon enters the main queue. Two keys with the same
// bits count as one, which only puts a key into the wrong queue. The caller synchronizes.
//
// Evictions are written into a ring. Each key is also in the chain of its bucket until it returns or is overwritten. A key that returned
// leaves its place in the ring empty: the ring spans a number of evictions, not a number of keys. It consists of numbers only, so that the
// garbage collector has nothing to follow.
//
//      _oldest                _oldest + _used
//   |  | key | returned | key |                       |
internal sealed class GhostQueue
{
    private const int SmallestRing = 16;
    private const int EndOfChain = -1;
    private const int Returned = -2;

    private Eviction[] _ring = [];
    private int[] _buckets = [];
    private int _oldest;
    private int _used;

    /// <summary>Remembers a key, and forgets the keys that were evicted <paramref name="span"/> or more evictions ago.</summary>
    public void Add(ulong hash, int span)
    {
        Debug.Assert(span > 0, "There is room for one at least.");
        while (_used >= span)
        {
            ForgetOldest();
        }

        if (_used == _ring.Length)
        {
            Grow(span);
        }

        int index = IndexOf(_used);
        _ring[index].Hash = Bits(hash);
        Chain(index);
        _used++;
    }

    /// <summary>Forgets a key. Returns true if it was remembered.</summary>
    public bool TryTake(ulong hash)
    {
        if (_used == 0)
        {
            return false;
        }

        uint bits = Bits(hash);
        for (ref int link = ref BucketOf(bits); link != EndOfChain; link = ref _ring[link].Next)
        {
            ref Eviction eviction = ref _ring[link];
            if (eviction.Hash == bits)
            {
                link = eviction.Next;
                eviction.Next = Returned;
                return true;
            }
        }

        return false;
    }

    public void Clear()
    {
        _ring = [];
        _buckets = [];
        _oldest = 0;
        _used = 0;
    }

    // The low half: the highest bits choose the shard, and so are the same for all keys here.
    private static uint Bits(ulong hash) => (uint)hash;

    private ref int BucketOf(uint bits) => ref _buckets[(int)(((ulong)bits * (uint)_buckets.Length) >> 32)];

    /// <summary>Returns the index of the eviction that came the given number after the oldest one.</summary>
    private int IndexOf(int age)
    {
        int index = _oldest + age;
        return index < _ring.Length ? index : index - _ring.Length;
    }

    private void Chain(int index)
    {
        ref Eviction eviction = ref _ring[index];
        ref int bucket = ref BucketOf(eviction.Hash);
        eviction.Next = bucket;
        bucket = index;
    }

    private void ForgetOldest()
    {
        ref Eviction oldest = ref _ring[_oldest];
        if (oldest.Next != Returned)
        {
            ref int link = ref BucketOf(oldest.Hash);
            while (link != _oldest)
            {
                link = ref _ring[link].Next;
            }

            link = oldest.Next;
        }

        _oldest = IndexOf(1);
        _used--;
    }

    private void Grow(int span)
    {
        // The new length is little more than needed, but enough that a span that grows in small steps does not copy the ring each time.
        var ring = new Eviction[Math.Max(SmallestRing, Math.Min(_ring.Length * 2, span + (span / 8)))];
        for (int age = 0; age < _used; age++)
        {
            ring[age] = _ring[IndexOf(age)];
        }

        _ring = ring;
        _buckets = new int[ring.Length];
        Array.Fill(_buckets, EndOfChain);
        _oldest = 0;
        for (int index = 0; index < _used; index++)
        {
            if (ring[index].Next != Returned)
            {
                Chain(index);
            }
        }
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Eviction
    {
        public uint Hash;

        /// <summary>The next eviction of its bucket, <see cref="EndOfChain"/> or <see cref="Returned"/>.</summary>
        public int Next;
    }
}
