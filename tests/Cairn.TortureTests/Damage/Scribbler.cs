using System.Diagnostics;
using System.IO.MemoryMappedFiles;
using Cairn.Storage;

namespace Cairn.TortureTests.Damage;

// A program that also maps a store's file. It writes garbage into the file while others work on the store.
//
// It does not change the layout and the boot id, which only an opening reads, because others open the store meanwhile. It corrects the count of
// segments at the end. It frees a lock that it has overwritten after a moment. Otherwise the word could name a living owner that does not hold
// the lock. The partition would stop for the life of that owner, and the test would learn nothing more there.
internal sealed unsafe class Scribbler : IDisposable
{
    private const int WordsAtATime = 40;
    private const int FirstChangingField = 256;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly byte* _start;
    private readonly StoreLayout _layout;
    private readonly (long Start, long End)[] _areas;
    private readonly HashSet<int> _scribbledLocks = [];
    private readonly Random _random;

    public Scribbler(string path, Random random)
    {
        _random = random;
        _file = MemoryMappedFile.CreateFromFile(path, FileMode.Open);
        _view = _file.CreateViewAccessor();
        byte* start = null;
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
        _start = start;
        var super = (Superblock*)start;
        _layout = StoreLayout.Restore(
            super->MaxCapacityBytes, super->AverageEntryBytes, super->SegmentBytes, super->PartitionCount, super->MaxSegments)!;
        long headersEnd = _layout.SegmentHeadersOffset + ((long)super->SegmentCount * StoreLayout.SegmentHeaderBytes);
        long segmentsEnd = _layout.SegmentsOffset + ((long)super->SegmentCount * _layout.SegmentBytes);
        _areas =
        [
            (FirstChangingField, StoreLayout.PageBytes / 4),
            (_layout.CollectionsOffset, _layout.CollectionsOffset + (2 * StoreLayout.CollectionRecordBytes)),
            (_layout.PartitionsOffset, _layout.OwnersOffset),
            (_layout.OwnersOffset, _layout.OwnersOffset + (4L * _layout.OwnerRecordBytes)),
            (_layout.SegmentHeadersOffset, headersEnd),
            (_layout.SegmentHeadersOffset, headersEnd),
            (_layout.GhostsOffset, _layout.IndexOffset),
            (_layout.IndexOffset, _layout.SegmentsOffset),
            (_layout.IndexOffset, _layout.SegmentsOffset),
            (_layout.SegmentsOffset, segmentsEnd),
            (_layout.SegmentsOffset, segmentsEnd),
            (_layout.SegmentsOffset, segmentsEnd),
        ];
    }

    /// <summary>Gets the number of words that were written.</summary>
    public long Words { get; private set; }

    /// <summary>Writes garbage as long as <paramref name="mayGoOn"/> allows.</summary>
    public void Run(Func<bool> mayGoOn)
    {
        ref int segmentCount = ref ((Superblock*)_start)->SegmentCount;
        int count = segmentCount;
        while (mayGoOn())
        {
            for (int i = 0; i < WordsAtATime; i++)
            {
                Scribble();
            }

            long start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start) < Pause)
            {
                Thread.Yield();
            }

            FreeLocks();
        }

        segmentCount = count;
    }

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }

    private void Scribble()
    {
        (long start, long end) = _areas[_random.Next(_areas.Length)];
        long at = _random.NextInt64(start, end) & ~7L;
        NoteLock(at);
        if (_random.Next(2) == 0)
        {
            ulong* word = (ulong*)(_start + at);
            ulong other = *(ulong*)(_start + (_random.NextInt64(_layout.SegmentsOffset) & ~7L));
            Volatile.Write(ref *word, GarbageWord.Of(_random, *word, other));
        }
        else
        {
            uint* half = (uint*)(_start + at + (4 * _random.Next(2)));
            Volatile.Write(ref *half, GarbageWord.Of(_random, *half));
        }

        Words++;
    }

    private void NoteLock(long at)
    {
        long inPartitions = at - _layout.PartitionsOffset;
        if (inPartitions >= 0 && at < _layout.OwnersOffset && inPartitions % _layout.PartitionBlockBytes == 0)
        {
            _scribbledLocks.Add((int)(inPartitions / _layout.PartitionBlockBytes));
        }
    }

    private void FreeLocks()
    {
        foreach (int number in _scribbledLocks.Where(number => number < _layout.PartitionCount))
        {
            var partition = (PartitionBlock*)(_start + _layout.PartitionsOffset + ((long)number * _layout.PartitionBlockBytes));
            Volatile.Write(ref partition->LockWord, 0);
        }

        _scribbledLocks.Clear();
    }
}
