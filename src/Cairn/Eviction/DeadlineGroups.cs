namespace Cairn.Eviction;

// The data that one opening caches about a sealed segment: where each group of 64 entries begins, and when its first entry can be removed.
// A sweep passes over the groups that are not due without reading their bytes.
//
//   0         starts[1]   starts[2]       end                        Tail
//   | group 0 | group 1   | group 2       | not walked to the end yet |
//
//   D1  The earliest time of a group is never later than that of any of its entries. Entries of a sealed segment are only removed or get later
//       deadlines (SegmentHeader I2). A gap, in which a long value can still appear, makes its group always due.
//   D2  The data is valid for one life of a segment. Its partition, the partition's count of recoveries and its seal order identify the life.
//
// Used only under the lock of the segment's partition. Other processes also move the sweep's cursor. A walk that one of them continued is not
// recorded.
internal sealed class DeadlineGroups
{
    private const int EntriesInGroup = 64;

    private int _partition = -1;
    private long _recoveries;
    private ulong _sealOrder;

    private int[] _starts = [];
    private long[] _earliest = [];
    private int _count;
    private int _end;

    // The group that is being walked, -1 for none; the next entry, the number of entries before it, and their earliest time.
    private int _walked = -1;
    private long _next;
    private int _entries;
    private long _walkedEarliest;

    /// <summary>Forgets everything if it belongs to another life of the segment (D2).</summary>
    public void BelongTo(int partition, long recoveries, ulong sealOrder)
    {
        if (_partition == partition && _recoveries == recoveries && _sealOrder == sealOrder)
        {
            return;
        }

        (_partition, _recoveries, _sealOrder) = (partition, recoveries, sealOrder);
        (_count, _end, _walked) = (0, 0, -1);
    }

    /// <summary>Moves the cursor to the end of the group that begins there, if none of its entries can be removed by <paramref name="until"/>.</summary>
    /// <param name="cursor">The position of the sweep.</param>
    /// <param name="until">The sweep removes entries whose time is not later than this.</param>
    /// <param name="earliest">The earliest time that the sweep has seen. Includes that of the group after the call.</param>
    public bool TryPass(ref long cursor, long until, ref long earliest)
    {
        if (_walked >= 0 && _next == cursor)
        {
            return false;
        }

        _walked = cursor == _end ? _count : Array.BinarySearch(_starts, 0, _count, (int)cursor);
        if (_walked < 0)
        {
            return false; // In the middle of a group that another process began.
        }

        if (_walked < _count && _earliest[_walked] > until)
        {
            earliest = Math.Min(earliest, _earliest[_walked]);
            cursor = EndOf(_walked);
            _walked = -1;
            return true;
        }

        _next = cursor;
        _entries = 0;
        _walkedEarliest = long.MaxValue;
        return false;
    }

    /// <summary>Records an entry that the sweep examined after <see cref="TryPass"/> returned false.</summary>
    /// <param name="next">The start of the next entry.</param>
    /// <param name="removableAt">When the entry can be removed; <see cref="long.MaxValue"/> if it was removed.</param>
    /// <param name="isLast">Whether it is the last entry of the segment.</param>
    public void Record(long next, long removableAt, bool isLast)
    {
        if (_walked < 0)
        {
            return;
        }

        _next = next;
        _entries++;
        _walkedEarliest = Math.Min(_walkedEarliest, removableAt);
        if (_walked < _count)
        {
            if (next >= EndOf(_walked))
            {
                _earliest[_walked] = _walkedEarliest;
                _walked = -1;
            }
        }
        else if (_entries == EntriesInGroup || isLast)
        {
            Append((int)next);
        }
    }

    private int EndOf(int group) => group + 1 < _count ? _starts[group + 1] : _end;

    private void Append(int end)
    {
        if (_count == _starts.Length)
        {
            Array.Resize(ref _starts, Math.Max(8, 2 * _count));
            Array.Resize(ref _earliest, _starts.Length);
        }

        _starts[_count] = _end;
        _earliest[_count] = _walkedEarliest;
        _count++;
        _end = end;
        _walked = -1;
    }
}
