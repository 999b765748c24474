// Where the outputs of a worker's connections are written: one after the other into one shared block, so that the replies
// of a batch lie densely in the cache and a connection without output holds no memory.
//
//   shared block   | A's reply | B's reply | C's re...            |
//                  ^ segment of A's output  ^ tail: the next writer starts here
//
//   I1  One output at a time appends to the shared block; another one's first byte closes the writer's segment.
//   I2  A shared block is counted by the arena while it is the current one, and by each segment in it.
//   I3  When only the arena counts it, every byte before the tail was sent, and the tail goes back to the start.
//
// What a client does not take at once is moved to blocks of its own (OutputBuffer.MoveToOwnBlocks): else a few bytes for a slow
// reader would hold the whole block.
using System.Diagnostics;

namespace Cairn.Server.Connections;

internal sealed class OutputArena
{
    public const int SharedBlockBytes = 64 << 10;

    private readonly BlockPool _pool;
    private Block? _shared;
    private int _tail;
    private OutputBuffer? _writer;
    private OutputSegment? _freeSegments;

    public OutputArena(BlockPool pool) => _pool = pool;

    public BlockPool Pool => _pool;

    /// <summary>Unsent bytes at which an output is full. The worker sets it once for each turn, as memory allows.</summary>
    public int FullAt { get; set; } = OutputBuffer.FullBytes;

    /// <summary>A segment at the shared block's tail, or in a block of its own if it is long, which
    /// <paramref name="writer"/> may fill up to <paramref name="limit"/>.</summary>
    public OutputSegment Open(OutputBuffer writer, int atLeast, out int limit)
    {
        _writer?.CloseSegment();
        Debug.Assert(_writer is null, "I1: the writer left.");

        if (atLeast > SharedBlockBytes / 4)
        {
            // Long: the rest of the shared block would be wasted, and is soon needed by others.
            OutputSegment own = OwnSegment(atLeast);
            limit = own.Block.Length;
            _writer = writer;
            return own;
        }

        if (_shared is { References: 1 })
        {
            _tail = 0; // I3
        }

        if (_shared is null || SharedBlockBytes - _tail < atLeast)
        {
            Release(_shared);
            _shared = _pool.Rent(SharedBlockBytes);
            _shared.References = 1;
            _tail = 0;
        }

        _shared.References++;
        _writer = writer;
        limit = SharedBlockBytes;
        return Segment(_shared, _tail, isShared: true);
    }

    /// <summary>Lets go of the shared block while nothing is in it, and of free segments.</summary>
    public void Trim()
    {
        _freeSegments = null;
        if (_writer is null && _shared is { References: 1 })
        {
            Release(_shared);
            _shared = null;
            _tail = 0;
        }
    }

    /// <summary>The writer has appended up to here and lets others write.</summary>
    public void Close(OutputBuffer writer, OutputSegment segment, int position)
    {
        Debug.Assert(ReferenceEquals(_writer, writer), "I1: only the writer closes.");

        _writer = null;
        segment.End = position;
        if (ReferenceEquals(segment.Block, _shared))
        {
            _tail = position;
        }
    }

    /// <summary>A segment with a block of its own.</summary>
    public OutputSegment OwnSegment(int bytes)
    {
        Block block = _pool.Rent(bytes);
        _pool.Account.AddReply(block.Length);
        return Segment(block, 0, isShared: false);
    }

    public void Recycle(OutputSegment segment)
    {
        if (segment.IsShared)
        {
            Release(segment.Block);
        }
        else
        {
            _pool.Account.AddReply(-segment.Block.Length);
            _pool.Return(segment.Block);
        }

        segment.Clear();
        segment.Next = _freeSegments;
        _freeSegments = segment;
    }

    private void Release(Block? shared)
    {
        if (shared is not null && --shared.References == 0)
        {
            _pool.Return(shared);
        }
    }

    private OutputSegment Segment(Block block, int start, bool isShared)
    {
        OutputSegment segment;
        if (_freeSegments is { } free)
        {
            _freeSegments = free.Next;
            segment = free;
        }
        else
        {
            segment = new OutputSegment();
        }

        segment.Set(block, start, isShared);
        return segment;
    }
}

/// <summary>Consecutive bytes of an output, in one block.</summary>
internal sealed class OutputSegment
{
    public Block Block { get; private set; } = null!; // A segment in use has one.

    /// <summary>The first byte that was not sent.</summary>
    public int Start { get; set; }

    public int End { get; set; }

    public bool IsShared { get; private set; }

    public OutputSegment? Next { get; set; }

    public int Length => End - Start;

    public unsafe byte* Pointer => Block.Pointer + Start;

    public unsafe Span<byte> Bytes => new(Pointer, Length);

    public Memory<byte> Memory => Block.Memory.Slice(Start, Length);

    public void Set(Block block, int start, bool isShared)
    {
        Block = block;
        Start = start;
        End = start;
        IsShared = isShared;
        Next = null;
    }

    public void Clear()
    {
        Block = null!;
        Next = null;
    }
}
