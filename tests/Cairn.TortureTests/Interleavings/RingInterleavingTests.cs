using System.Runtime.CompilerServices;
using Cairn.Invalidation;
using Cairn.Storage;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Reading the ring of changed keys while more changes are posted. The reader reports each change as it was posted, or an overrun. Broken
/// twins of either side report changes that were not posted, or do not report an overrun.
/// </summary>
public sealed unsafe class RingInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private const int Posts = 4;

    private readonly Stage _stage = new();

    private delegate void Poster(StoreMemory memory, PartitionBlock* partition, ulong keyHash);

    private delegate InvalidationStatus Reader(
        StoreMemory memory, PartitionBlock* partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count);

    private PartitionBlock* Partition => _stage.Partition;

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Changes_are_read_as_they_were_posted_by_a_reader_far_from_the_end_of_the_ring() => ExpectTold(room: 60);

    [Fact]
    public void Changes_are_read_as_they_were_posted_by_a_reader_two_cells_from_the_end() => ExpectTold(room: 2);

    [Fact]
    public void Changes_are_read_as_they_were_posted_by_a_reader_one_cell_from_the_end() => ExpectTold(room: 1);

    [Fact]
    public void Changes_are_read_as_they_were_posted_by_a_reader_at_the_end() => ExpectTold(room: 0);

    [Fact]
    public void Overrun_that_is_raised_while_the_ring_is_read_is_reported() =>
        new Exploration(output).ExpectHolds(() => Overrunning(InvalidationRing.Read));

    [Fact]
    public void Position_that_is_stored_before_the_cell_is_caught() =>
        new Exploration(output).ExpectCaught(() => Posting(BrokenRing.Post, InvalidationRing.Read, room: 60));

    [Fact]
    public void Reader_that_does_not_look_at_the_position_again_is_caught() =>
        new Exploration(output).ExpectCaught(
            () => Posting(InvalidationRing.Post, Broken(RingDefect.DoesNotLookAgain), room: 1));

    [Fact]
    public void Reader_that_trusts_the_oldest_cell_is_caught() =>
        new Exploration(output).ExpectCaught(
            () => Posting(InvalidationRing.Post, Broken(RingDefect.TrustsTheOldestCell), room: 1));

    [Fact]
    public void Reader_that_takes_over_an_overrun_without_telling_it_is_caught() =>
        new Exploration(output).ExpectCaught(() => Overrunning(Broken(RingDefect.SkipsAnOverrun)));

    [Fact]
    public void Twin_without_a_defect_holds()
    {
        var exploration = new Exploration(output);

        exploration.ExpectHolds(() => Posting(InvalidationRing.Post, Broken(RingDefect.None), room: 1));
        exploration.ExpectHolds(() => Overrunning(Broken(RingDefect.None)));
    }

    private static Reader Broken(RingDefect defect) =>
        (StoreMemory memory, PartitionBlock* partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count) =>
            BrokenRing.Read(memory, partition, ref cursor, hashes, out count, defect);

    // Returns the hash of the change at a position, so that each change can be recognised.
    private static ulong HashAt(ulong position) => (position + 1) * 0x9E37_79B9_7F4A_7C15;

    private void ExpectTold(int room, [CallerMemberName] string test = "") =>
        new Exploration(output, test) { Interruptions = TortureRun.Count(3, 6) }.ExpectHolds(
            () => Posting(InvalidationRing.Post, InvalidationRing.Read, room));

    // The distance of the reader is the number of the ring's cells less the room.
    private Scene Posting(Poster post, Reader read, int room)
    {
        _stage.Reset();
        InvalidationCursor cursor = InvalidationRing.Now(Partition);
        for (int i = room; i < _stage.Memory.Layout.RingCells; i++)
        {
            InvalidationRing.Post(_stage.Memory, Partition, HashAt(Partition->RingPosition));
        }

        var told = new Told(cursor);
        return new Scene(
            () => told.Read(_stage, read).FaultAt(Partition->RingPosition),
            () => PostSome(post),
            () => told.Read(_stage, read));
    }

    private Scene Overrunning(Reader read)
    {
        _stage.Reset();
        var told = new Told(InvalidationRing.Now(Partition));
        return new Scene(
            () => told.Read(_stage, read).Overruns > 0 ? null : "An overrun was not told.",
            () =>
            {
                PostSome(InvalidationRing.Post);
                Interlocked.Increment(ref Partition->Overrun);
                Schedule.Step();
                PostSome(InvalidationRing.Post);
            },
            () => told.Read(_stage, read));
    }

    private void PostSome(Poster post)
    {
        for (int i = 0; i < Posts; i++)
        {
            post(_stage.Memory, Partition, HashAt(Partition->RingPosition));
        }
    }

    // The changes that a reader reported.
    private sealed class Told(InvalidationCursor cursor)
    {
        private InvalidationCursor _cursor = cursor;
        private ulong _position = cursor.Position;
        private string? _fault;

        public int Overruns { get; private set; }

        // Reads until there are no new changes.
        public Told Read(Stage stage, Reader read)
        {
            Span<ulong> hashes = stackalloc ulong[128];
            InvalidationStatus status;
            while ((status = read(stage.Memory, stage.Partition, ref _cursor, hashes, out int count)) != InvalidationStatus.None)
            {
                if (status == InvalidationStatus.Overrun)
                {
                    Overruns++;
                    _position = _cursor.Position;
                }

                for (int i = 0; i < count; i++, _position++)
                {
                    _fault ??= hashes[i] == HashAt(_position) ? null : $"Change {_position} was reported as another one.";
                }
            }

            return this;
        }

        public string? FaultAt(ulong position) =>
            _fault ?? (_position == position ? null : $"Changes up to {position} were posted, up to {_position} told.");
    }
}
