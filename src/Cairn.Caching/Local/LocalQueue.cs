using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Local;

// Entries in order of arrival, in a ring of references. Guarded by the shard's lock.
//
//      _first                                  _next
//   |    | entry | entry | left | entry | left |    |
//
//   I1  An entry of the queue is in the cell of its position. Positions increase without end, modulo 2^32, and the ring's length is a power
//       of two, so that growing the ring changes no position.
//   I2  Between _first and _next lie the entries of the queue, and the cells of some entries that left.
//
// A ring instead of links through the entries: removing the oldest entry does not touch its neighbours, which the processor would have to
// fetch first, and the garbage collector follows two references less for each entry, without a chain.
[StructLayout(LayoutKind.Auto)]
internal struct LocalQueue(LocalPlace place)
{
    private const int SmallestRing = 16;

    private Cell[] _ring = [];
    private uint _first;
    private uint _next;

    public int Count { get; private set; }

    /// <summary>The total bytes of the entries in the queue.</summary>
    public long Bytes { get; private set; }

    /// <summary>The oldest entry; null if the queue is empty.</summary>
    public LocalEntry? Oldest
    {
        get
        {
            if (Count == 0)
            {
                return null;
            }

            while (CellOf(_first) is null)
            {
                _first++;
            }

            return CellOf(_first);
        }
    }

    public void Add(LocalEntry entry)
    {
        if (_next - _first == _ring.Length)
        {
            MakeRoom();
        }

        entry.Place = place;
        Append(entry);
        Count++;
        Bytes += entry.Bytes;
    }

    public void Remove(LocalEntry entry)
    {
        Debug.Assert(entry.Place == place && CellOf(entry.Position) == entry, "I1");
        CellOf(entry.Position) = null;
        Count--;
        Bytes -= entry.Bytes;
        if (Count == 0)
        {
            _first = _next;
        }
    }

    /// <summary>Puts an entry in the place of another one.</summary>
    public void Replace(LocalEntry old, LocalEntry entry)
    {
        Debug.Assert(old.Place == place && CellOf(old.Position) == old, "I1");
        entry.Place = place;
        entry.Position = old.Position;
        CellOf(entry.Position) = entry;
        Bytes += entry.Bytes - old.Bytes;
    }

    /// <summary>Makes the oldest entry the newest.</summary>
    public void Rotate()
    {
        LocalEntry oldest = Oldest!;
        CellOf(_first) = null;
        _first++;
        Append(oldest);
    }

    /// <summary>Adds the entries for whose hashes the low 32 bits are below a limit, from the oldest.</summary>
    public readonly void AddPresent(List<PresentKey> present, uint below)
    {
        for (uint position = _first; position != _next; position++)
        {
            if (CellOf(position) is { } entry && (uint)entry.Hash < below)
            {
                present.Add(new PresentKey(entry.Hash, entry.Frequency, entry.Place == LocalPlace.Main));
            }
        }
    }

    private void Append(LocalEntry entry)
    {
        entry.Position = _next;
        CellOf(_next) = entry;
        _next++;
    }

    // Makes room in a ring that is full of entries or of the cells of entries that left.
    private void MakeRoom()
    {
        Cell[] full = _ring;
        if (Count > full.Length / 2)
        {
            // The positions stay (I1), so no entry is touched.
            _ring = new Cell[full.Length * 2];
            for (uint position = _first; position != _next; position++)
            {
                CellOf(position) = full[position & (uint)(full.Length - 1)].Entry;
            }

            return;
        }

        // All entries get new positions, in a ring that is at most half full, so that this does not happen again soon.
        uint end = _next;
        _ring = new Cell[Math.Max(SmallestRing, (int)BitOperations.RoundUpToPowerOf2((uint)Count * 2))];
        _next = _first;
        for (uint position = _first; position != end; position++)
        {
            if (full[position & (uint)(full.Length - 1)].Entry is { } entry)
            {
                Append(entry);
            }
        }
    }

    private readonly ref LocalEntry? CellOf(uint position) => ref _ring[position & (uint)(_ring.Length - 1)].Entry;

    // A structure, because taking a reference to an element of an array of references costs a type check.
    private struct Cell
    {
        public LocalEntry? Entry;
    }
}
