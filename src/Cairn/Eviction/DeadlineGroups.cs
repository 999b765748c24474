namespace Cairn.Eviction;

// What one opening remembers of a sealed segment: where each group of 64 entries begins, and the earliest moment at which one of them may be taken out.
// A sweep passes over the groups that are not due without touching their bytes.
//
//   0         starts[1]   starts[2]        end                        Tail
//   | group 0 | group 1   | group 2        | not walked to the end yet |
//
//   D1  The moment of a group is never later than that of its first entry. Entries of a sealed segment only go, or get later deadlines (SegmentHeader I2);
//       a gap, where a long value may still appear, makes its group due always.
//   D2  What is remembered belongs to one life of a segment: the seal order of a partition that was not recovered since.
//
// It is used under the lock of the segment's partition only. Other processes move the sweep's cursor too: a walk that one of them continued is not recorded.
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

    // The group that is being walked, -1 for none: the next entry, how many were before it, and their earliest moment.
    private int _walked = -1;
    private long _next;
    private int _entries;
    private long _walkedEarliest;

    /// <summary>Forgets everything if it was of another life of the segment (D2).</summary>
    public void BelongTo(int partition, long recoveries, ulong sealOrder)
    {
        if (_partition == partition && _recoveries == recoveries && _sealOrder == sealOrder)
        {
            return;
        }

        (_partition, _recoveries, _sealOrder) = (partition, recoveries, sealOrder);
        (_count, _end, _walked) = (0, 0, -1);
    }

    /// <summary>Moves the cursor to the end of the group that begins there, if nothing in it may be taken out until <paramref name="until"/>.</summary>
    /// <param name="cursor">Where the sweep is.</param>
    /// <param name="until">The latest moment of what is taken out.</param>
    /// <param name="earliest">The earliest moment that the sweep has seen; includes that of the group after the call.</param>
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

    /// <summary>Records an entry that the sweep looked at after <see cref="TryPass"/> had declined.</summary>
    /// <param name="next">Where the next entry begins.</param>
    /// <param name="removableAt">When it may be taken out; <see cref="long.MaxValue"/> if it is gone.</param>
    /// <param name="isLast">True for the last of the segment.</param>
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
