namespace Cairn.Offline;

// Checks whether a partition accounts for each of its segments exactly once:
//
//   state     required place
//   Spare     in the list of spares
//   Open      the open segment of the log that the header names
//   Sealed    in the queue of its log, or the present victim of eviction
//   Retired   in the list of retired segments
//   RunBody   inside a run whose head is Sealed or Retired
//
// The block and the headers must be of one moment, at which no process held the partition's lock.
internal sealed unsafe class SegmentListCheck(StoreImage image)
{
    private readonly List<(VerifyArea Area, long Offset, string Text)> _problems = [];
    private string?[] _places = [];
    private PartitionBlock* _block;
    private SegmentHeader* _headers;
    private int _count;
    private int _number;

    /// <summary>Returns the problems of a partition.</summary>
    public IReadOnlyList<(VerifyArea Area, long Offset, string Text)> Check(PartitionBlock* block, SegmentHeader* headers, int count, int number)
    {
        _problems.Clear();
        _places = new string?[count];
        _block = block;
        _headers = headers;
        _count = count;
        _number = number;

        CheckWatermarks();
        CheckOpenSegments();
        CheckList("the list of spares", block->SpareHead, SegmentState.Spare, block->SpareCount);
        CheckList("the list of retired segments", block->RetiredHead, SegmentState.Retired, null);
        CheckQueue("the queue of the small log", block->SmallHead, block->SmallTail, block->SmallCount, PartitionBlock.LogSmall);
        CheckQueue("the queue of the main log", block->MainHead, block->MainTail, block->MainCount, PartitionBlock.LogMain);
        CheckQueue("the queue of the keep log", block->KeepHead, block->KeepTail, block->KeepCount, PartitionBlock.LogKeep);
        CheckVictim();
        CheckHeaders();
        return _problems;
    }

    private void CheckWatermarks()
    {
        for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
        {
            ulong* pair = PartitionBlock.Watermark(_block, collection);
            if (pair[0] != ~pair[1])
            {
                Report($"records the clearing of collection {collection} as version {pair[0]}, but its complement says {~pair[1]}");
            }
            else if (pair[0] > _block->Version)
            {
                Report($"records that collection {collection} was cleared at version {pair[0]}, but has only reached {_block->Version}");
            }
        }
    }

    private void CheckOpenSegments()
    {
        int open = 0;
        for (int log = 0; log < PartitionBlock.LogCount; log++)
        {
            int segment = _block->ActiveSegment[log] - 1;
            if (segment == -1)
            {
                continue;
            }

            open++;
            if (!IsSegment(segment))
            {
                Report($"has segment {segment} open in log {log}, which does not exist");
                continue;
            }

            SegmentHeader header = _headers[segment];
            Place(segment, $"open in log {log}");
            if (header.StateWord != SegmentHeader.Word(SegmentState.Open, log, _number))
            {
                Report($"has segment {segment} open in log {log}, but its header says {Describe(header)}");
            }

            int tail = _block->ActiveTail[log];
            if (tail != header.Tail || tail < 0 || tail > image.Layout.SegmentBytes || tail % EntryView.Alignment != 0)
            {
                Report($"has filled {tail:N0} bytes of segment {segment}, whose header says {header.Tail:N0} of {image.Layout.SegmentBytes:N0}");
            }
        }

        if (open != _block->OpenCount)
        {
            Report($"counts {_block->OpenCount} open segments and has {open}");
        }
    }

    private void CheckList(string name, int head, SegmentState state, int? expectedCount)
    {
        int listed = 0;
        for (int segment = head - 1; segment != -1; segment = _headers[segment].Next - 1)
        {
            if (!TryEnter(name, segment))
            {
                return;
            }

            listed++;
            SegmentHeader header = _headers[segment];
            if (header.State != state || header.Partition != _number)
            {
                Report($"has segment {segment} in {name}, but its header says {Describe(header)}");
            }
        }

        if (listed != (expectedCount ?? listed))
        {
            Report($"counts {expectedCount} segments in {name}, where there are {listed}");
        }
    }

    private void CheckQueue(string name, int head, int tail, int expectedCount, int log)
    {
        int previous = 0;
        ulong order = 0;
        long listed = 0;
        for (int segment = head - 1; segment != -1; segment = _headers[segment].Next - 1)
        {
            if (!TryEnter(name, segment))
            {
                return;
            }

            SegmentHeader header = _headers[segment];
            listed += header.RunLength;
            if (header.State != SegmentState.Sealed || header.Partition != _number || header.Log != log)
            {
                Report($"has segment {segment} in {name}, but its header says {Describe(header)}");
            }

            if (header.Previous != previous)
            {
                Report($"has segment {segment} after {previous - 1} in {name}, but its header says after {header.Previous - 1}");
            }

            if (header.SealOrder <= order || header.SealOrder > _block->SealSequence)
            {
                Report($"has segment {segment}, sealed as number {header.SealOrder} of {_block->SealSequence}, after number {order} in {name}");
            }

            previous = segment + 1;
            order = header.SealOrder;
        }

        if (tail != previous)
        {
            Report($"ends {name} with segment {tail - 1}, but its links end with {previous - 1}");
        }

        if (listed != expectedCount)
        {
            Report($"counts {expectedCount} segments in {name}, where there are {listed}");
        }
    }

    private void CheckVictim()
    {
        int segment = _block->Victim - 1;
        if (segment == -1)
        {
            return;
        }

        if (!IsSegment(segment) || _headers[segment].State != SegmentState.Sealed || _headers[segment].Partition != _number)
        {
            Report($"takes segment {segment} apart, {(IsSegment(segment) ? $"but its header says {Describe(_headers[segment])}" : "which does not exist")}");
            return;
        }

        Place(segment, "being taken apart");
    }

    private void CheckHeaders()
    {
        int owned = 0;
        for (int segment = 0; segment < _count; segment++)
        {
            SegmentHeader header = _headers[segment];
            if (header.Partition != _number || header.State is SegmentState.Free or SegmentState.Reserved)
            {
                continue;
            }

            owned++;
            if (header.Tail < 0 || header.Tail > image.Layout.SegmentBytes || header.Tail % EntryView.Alignment != 0)
            {
                ReportHeader(segment, $"says that {header.Tail:N0} of its {image.Layout.SegmentBytes:N0} bytes are filled");
            }

            if (header.RunLength < 1 || header.RunLength > _count - segment)
            {
                ReportHeader(segment, $"says that it heads a run of {header.RunLength:N0} segments");
            }

            if (header.State == SegmentState.RunBody)
            {
                CheckRunBody(segment, header);
            }
            else if (_places[segment] is null)
            {
                ReportHeader(segment, $"says {Describe(header)}, but partition {_number} does not know of it");
            }
        }

        if (owned != _block->SegmentCount)
        {
            Report($"counts {_block->SegmentCount} segments and has {owned}");
        }
    }

    private void CheckRunBody(int segment, in SegmentHeader header)
    {
        int head = header.Next - 1;
        bool isInRun = IsSegment(head) && head < segment && _headers[head].Partition == _number
            && _headers[head].State is SegmentState.Sealed or SegmentState.Retired && (long)head + _headers[head].RunLength > segment;
        if (!isInRun)
        {
            ReportHeader(segment, $"says that it is in the run of segment {head}, which does not reach it");
        }
    }

    private bool TryEnter(string name, int segment)
    {
        if (!IsSegment(segment))
        {
            Report($"has a link to segment {segment} in {name}, which does not exist");
            return false;
        }

        // This check also ends a walk in a circle.
        if (_places[segment] is { } place)
        {
            Report($"has segment {segment} in {name}, which it has met {place} already");
            return false;
        }

        Place(segment, $"in {name}");
        return true;
    }

    private void Place(int segment, string place)
    {
        if (_places[segment] is { } earlier)
        {
            Report($"has segment {segment} {place} and {earlier}");
        }

        _places[segment] = place;
    }

    private bool IsSegment(int segment) => (uint)segment < (uint)_count;

    private void Report(string problem) =>
        _problems.Add((VerifyArea.Partitions, image.PartitionOffset(_number), $"Partition {_number} {problem}."));

    private void ReportHeader(int segment, string problem) =>
        _problems.Add((VerifyArea.Segments, image.HeaderOffset(segment), $"The header of segment {segment} {problem}."));

    private static string Describe(in SegmentHeader header) => $"{header.State} of partition {header.Partition} in log {header.Log}";
}
