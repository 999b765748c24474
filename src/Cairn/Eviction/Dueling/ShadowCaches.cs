namespace Cairn.Eviction.Dueling;

// Shadow caches over the same keys. The table has each key that a shadow holds once, with its state in each shadow. So a hit of all shadows, the most
// frequent request by far, is one look-up and one addition. Numbers only, so that the garbage collector has nothing to follow. The caller synchronizes.
//
//   key --> bucket --> slot | key | state in shadow 15 ... state in shadow 0 |     four bits each: held, in the main queue, uses (two bits)
//                           | neighbours in the queue of each shadow         |
//
//   I1  A slot is in the table if at least one shadow holds its key, and only then, except while Request and Begin insert the key.
//   I2  A slot in use stays where it is. Its index is the link in all queues.
internal sealed class ShadowCaches
{
    /// <summary>The most shadows: the state of a key in all of them has 64 bits.</summary>
    public const int MaxShadows = 16;

    /// <summary>The largest sum of all capacities. Links have 16 bits, 0 is no link, and a key has its slot before the shadows make room for it.</summary>
    public const int MaxTotalCapacity = ushort.MaxValue - 1;

    private const int BitsPerShadow = 4;
    private const uint Held = 8;
    private const uint InMain = 4;
    private const int SmallestTable = 16;

    private readonly ShadowCache[] _shadows;
    private Slot[] _slots = new Slot[SmallestTable];
    private Link[] _links;
    private ushort[] _buckets = new ushort[SmallestTable];
    private ushort _free;
    private int _untouched = 1;

    /// <summary>Creates empty shadows.</summary>
    /// <param name="shadows">The policy and the capacity in keys of each, at most <see cref="MaxShadows"/>.</param>
    public ShadowCaches(IReadOnlyList<(QueuePolicy Policy, int Capacity)> shadows)
    {
        Debug.Assert(shadows.Count <= MaxShadows && shadows.Sum(shadow => shadow.Capacity) <= MaxTotalCapacity, "States and links have few bits.");
        _shadows = [.. shadows.Select((shadow, index) => new ShadowCache(this, index, shadow.Policy, shadow.Capacity))];
        _links = new Link[SmallestTable * _shadows.Length];
    }

    public ShadowCache this[int shadow] => _shadows[shadow];

    /// <summary>Returns the bit that stands for a shadow in a set of shadows.</summary>
    public static ulong BitOf(int shadow) => (ulong)Held << (shadow * BitsPerShadow);

    /// <summary>Returns the first shadow of a set.</summary>
    public static int IndexOf(ulong shadows) => BitOperations.TrailingZeroCount(shadows) / BitsPerShadow;

    /// <summary>Requests a key from some shadows; a miss inserts it.</summary>
    /// <param name="key">Bits of the key's hash that are evenly distributed among the keys.</param>
    /// <param name="asked">The bits of the shadows that get the request.</param>
    /// <returns>The bits of those that held the key.</returns>
    public ulong Request(uint key, ulong asked)
    {
        ushort slot = Find(key);
        ref ulong states = ref _slots[slot].States;
        ulong hits = states & asked;

        // Adds a use for each hit, unless both bits of the uses are set, which is QueuePolicy.MaxFrequency. Slot 0 has no hits.
        states += (hits / Held) & ~(states & (states >> 1));
        if (hits != asked)
        {
            slot = slot == 0 ? Take(key) : slot;
            for (ulong missed = asked & ~hits; missed != 0; missed &= missed - 1)
            {
                _shadows[IndexOf(missed)].Insert(slot, isMain: false);
            }
        }

        return hits;
    }

    /// <summary>Inserts a key into a shadow, as if it had been used before; no effect if the shadow holds it.</summary>
    public void Begin(int shadow, uint key, byte uses, bool isMain)
    {
        ushort slot = Find(key);
        slot = slot == 0 ? Take(key) : slot;
        if ((_slots[slot].States & BitOf(shadow)) == 0)
        {
            _shadows[shadow].Insert(slot, isMain);
            SetUses(slot, shadow, uses);
        }
    }

    /// <summary>Removes a key from all shadows.</summary>
    public void Remove(uint key)
    {
        ushort slot = Find(key);
        for (ulong held = _slots[slot].States & EachBit(Held); held != 0; held &= held - 1)
        {
            _shadows[IndexOf(held)].Drop(slot);
        }
    }

    public uint KeyOf(ushort slot) => _slots[slot].Key;

    public bool IsInMain(ushort slot, int shadow) => (StateOf(slot, shadow) & InMain) != 0;

    public byte UsesOf(ushort slot, int shadow) => (byte)(StateOf(slot, shadow) & QueuePolicy.MaxFrequency);

    public void SetUses(ushort slot, int shadow, byte uses) => SetState(slot, shadow, (StateOf(slot, shadow) & ~(uint)QueuePolicy.MaxFrequency) | uses);

    /// <summary>Notes that a shadow holds a key, without uses, in one of its queues.</summary>
    public void SetHeld(ushort slot, int shadow, bool isMain) => SetState(slot, shadow, isMain ? Held | InMain : Held);

    /// <summary>Notes that a shadow does not hold a key any more (I1).</summary>
    public void SetGone(ushort slot, int shadow)
    {
        SetState(slot, shadow, 0);
        ref Slot gone = ref _slots[slot];
        if (gone.States != 0)
        {
            return;
        }

        ref ushort link = ref BucketOf(gone.Key);
        while (link != slot)
        {
            link = ref _slots[link].Next;
        }

        link = gone.Next;
        gone.Next = _free;
        _free = slot;
    }

    public ref ushort Newer(ushort slot, int shadow) => ref _links[(slot * _shadows.Length) + shadow].Newer;

    public ref ushort Older(ushort slot, int shadow) => ref _links[(slot * _shadows.Length) + shadow].Older;

    private static ulong EachBit(uint bit) => bit * 0x1111_1111_1111_1111UL;

    private uint StateOf(ushort slot, int shadow) => (uint)(_slots[slot].States >> (shadow * BitsPerShadow)) & 15;

    private void SetState(ushort slot, int shadow, uint state)
    {
        int shift = shadow * BitsPerShadow;
        ref ulong states = ref _slots[slot].States;
        states = (states & ~(15UL << shift)) | ((ulong)state << shift);
    }

    private ref ushort BucketOf(uint key) => ref _buckets[(int)(((ulong)key * (uint)_buckets.Length) >> 32)];

    /// <summary>Returns the slot of a key, 0 if no shadow holds it.</summary>
    private ushort Find(uint key)
    {
        ushort slot = BucketOf(key);
        while (slot != 0 && _slots[slot].Key != key)
        {
            slot = _slots[slot].Next;
        }

        return slot;
    }

    private ushort Take(uint key)
    {
        ushort slot = _free;
        if (slot != 0)
        {
            _free = _slots[slot].Next;
        }
        else
        {
            if (_untouched == _slots.Length)
            {
                Grow();
            }

            slot = (ushort)_untouched++;
        }

        _slots[slot].Key = key;
        Chain(slot);
        return slot;
    }

    private void Chain(ushort slot)
    {
        ref Slot chained = ref _slots[slot];
        ref ushort head = ref BucketOf(chained.Key);
        chained.Next = head;
        head = slot;
    }

    // All slots are in use. A quarter more, because most levels need few slots more than the largest shadow has keys.
    private void Grow()
    {
        int length = Math.Min(_slots.Length + Math.Max(SmallestTable, _slots.Length / 4), ushort.MaxValue + 1);
        Array.Resize(ref _slots, length);
        Array.Resize(ref _links, length * _shadows.Length);
        _buckets = new ushort[length];
        for (int slot = 1; slot < _untouched; slot++)
        {
            Chain((ushort)slot);
        }
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Slot
    {
        public ulong States;
        public uint Key;

        /// <summary>The next slot of its bucket, or of the slots that are not in use; 0 is none.</summary>
        public ushort Next;
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Link
    {
        public ushort Newer;
        public ushort Older;
    }
}
