// Entries by key: an open-addressed hash table with one writer at a time and readers that never wait.
//
//   I1  While its array is in use, a slot is empty or holds entries of one key. Its hash is written before its entry.
//   I2  At most half of the slots of an array are taken, so every search ends at an empty slot.
//   I3  A removal stores an entry without a value. Such slots are left out when the array is replaced. The replacement never modifies an
//       array that readers may use.
//   I4  Entries of a batch are invisible until the batch is complete, and then all are visible. A reader that has seen one of them
//       sees no earlier state of the others.
//
// The cost of a change does not depend on the number of entries. Replacing the array takes time proportional to the number of entries, once
// in about as many changes.
//
// A reader takes the array once per search. With an older array it searches an earlier state of the table. This is consistent: a change is
// acknowledged only after the newer array is in place, so the search counts as having happened before that change.
namespace Cairn.FileStore.Entries;

internal sealed class EntryTable
{
    private const int SmallestSlots = 16;

    private readonly List<Entry> _unsettled = [];
    private Slot[] _slots;
    private int _taken;
    private ChangeBatch? _batch;
    private long _order;

    public EntryTable(int expectedEntries = 0) => _slots = new Slot[SlotsFor(expectedEntries)];

    /// <summary>Gets the number of keys with a value, including expired ones.</summary>
    public int Count { get; private set; }

    /// <summary>Gets the total length of the lines of those keys in bytes.</summary>
    public long LineBytes { get; private set; }

    /// <summary>Gets a lower bound of the expiration times of all entries.</summary>
    public long EarliestExpiryTicks { get; private set; } = Entry.Never;

    /// <summary>Returns the entry of a key, which may have expired. Null or an entry without a value if the key has none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Entry? Find(string key)
    {
        int hash = EntryHash.Of(key);
        Slot[] slots = Volatile.Read(ref _slots);
        for (int i = hash; ; i++)
        {
            ref Slot slot = ref slots[i & (slots.Length - 1)];

            // Acquire; pairs with the write in Put (I1): the hash of the entry is visible, too.
            Entry? entry = Volatile.Read(ref slot.Entry);
            if (entry is null)
            {
                return null; // I2
            }

            if (slot.Hash == hash && (ReferenceEquals(entry.Key, key) || entry.Key == key))
            {
                return entry.IsPlain ? entry : entry.Visible();
            }
        }
    }

    /// <summary>Stores an entry; an entry without a value removes the key's value.</summary>
    /// <returns>The previous entry with a value; null if there was none.</returns>
    public Entry? Put(Entry entry)
    {
        if ((_taken + 1) * 2 > _slots.Length)
        {
            Replace(); // I2
        }

        int hash = EntryHash.Of(entry.Key);
        ref Slot slot = ref FindSlot(_slots, hash, entry.Key);
        Entry? before = slot.Entry;
        if (before is null && entry.Value is null)
        {
            return null; // There is no entry to remove.
        }

        // A key keeps its place in the order when its value is replaced, as in a dictionary.
        entry.Order = before?.Value is null ? ++_order : before.Order;

        if (_batch is not null)
        {
            entry.HideUntil(_batch, before?.IsPending == true ? before.Visible() : before);
            _unsettled.Add(entry);
        }

        if (before is null)
        {
            slot.Hash = hash;
            _taken++;
        }

        // Release; pairs with Find (I1).
        Volatile.Write(ref slot.Entry, entry);
        Account(entry, before);
        return before?.Value is null ? null : before;
    }

    /// <summary>Gets the changes of the current batch.</summary>
    public IReadOnlyList<Entry> Pending => _unsettled;

    /// <summary>Returns a new table with the entries that readers currently see.</summary>
    public EntryTable Copy()
    {
        var copy = new EntryTable(_taken);
        var entries = new List<Entry>(_taken);
        foreach (Slot slot in _slots)
        {
            if (slot.Entry?.Visible() is { Value: not null } entry)
            {
                entries.Add(entry);
            }
        }

        entries.Sort(static (left, right) => left.Order.CompareTo(right.Order));
        foreach (Entry entry in entries)
        {
            copy.Put(entry.With(entry.ExpiresTicks, entry.LineBytes));
        }

        return copy;
    }

    /// <summary>Begins a batch of changes that become visible together (I4).</summary>
    public void BeginBatch()
    {
        Debug.Assert(_batch is null, "One batch at a time.");
        _batch = new ChangeBatch();
    }

    /// <summary>Makes the changes since <see cref="BeginBatch"/> visible.</summary>
    public void CompleteBatch()
    {
        _batch!.Complete();
        _batch = null;
        foreach (Entry entry in _unsettled)
        {
            entry.Settle();
        }

        _unsettled.Clear();
    }

    /// <summary>Removes expired entries.</summary>
    /// <returns>Whether there were any.</returns>
    public bool Sweep(long nowTicks)
    {
        bool hasAny = false;
        long earliest = Entry.Never;
        foreach (Entry entry in this)
        {
            if (entry.IsAliveAt(nowTicks))
            {
                earliest = Math.Min(earliest, entry.ExpiresTicks);
            }
            else
            {
                hasAny = true;
                Put(new Entry(entry.Key, value: null));
            }
        }

        EarliestExpiryTicks = earliest;
        return hasAny;
    }

    /// <summary>Enumerates the entries with a value, in no particular order. The table must not change during the enumeration.</summary>
    public Enumerator GetEnumerator() => new(_slots);

    /// <summary>Returns the entries that have not expired, in the order of their lines.</summary>
    public Entry[] InOrder(long nowTicks)
    {
        var entries = new List<Entry>(Count);
        foreach (Entry entry in this)
        {
            if (entry.IsAliveAt(nowTicks))
            {
                entries.Add(entry);
            }
        }

        Entry[] ordered = [.. entries];
        Array.Sort(ordered, static (left, right) => left.Order.CompareTo(right.Order));
        return ordered;
    }

    private static ref Slot FindSlot(Slot[] slots, int hash, string key)
    {
        for (int i = hash; ; i++)
        {
            ref Slot slot = ref slots[i & (slots.Length - 1)];
            if (slot.Entry is null || (slot.Hash == hash && slot.Entry.Key == key))
            {
                return ref slot;
            }
        }
    }

    private static int SlotsFor(int entries) =>
        Math.Max(SmallestSlots, (int)BitOperations.RoundUpToPowerOf2((uint)entries * 2));

    private void Account(Entry entry, Entry? before)
    {
        if (before?.Value is not null)
        {
            Count--;
            LineBytes -= before.LineBytes;
        }

        if (entry.Value is not null)
        {
            Count++;
            LineBytes += entry.LineBytes;
            EarliestExpiryTicks = Math.Min(EarliestExpiryTicks, entry.ExpiresTicks);
        }
    }

    private void Replace()
    {
        // Allocates twice the slots that the live entries need, so that half of the array is free for later changes. A removal that belongs to a
        // batch stays, because its previous entry is still visible (I4).
        var slots = new Slot[SlotsFor(Math.Max(Count, SmallestSlots) * 2)];
        int taken = 0;
        foreach (Slot slot in _slots)
        {
            if (slot.Entry is { } entry && (entry.Value is not null || entry.IsPending))
            {
                ref Slot target = ref FindSlot(slots, slot.Hash, entry.Key);
                target = slot;
                taken++;
            }
        }

        _taken = taken;
        Volatile.Write(ref _slots, slots); // Release; pairs with Find: the slots must be visible before the array is.
    }

    public struct Enumerator(Slot[] slots)
    {
        private int _next;

        public Entry Current { get; private set; } = null!;

        public bool MoveNext()
        {
            while (_next < slots.Length)
            {
                if (slots[_next++].Entry is { Value: not null } entry)
                {
                    Current = entry;
                    return true;
                }
            }

            return false;
        }
    }

    internal struct Slot
    {
        public Entry? Entry;
        public int Hash;
    }
}
