// The memory for the outputs of a worker's connections. They are written one after the other into one shared block. So the replies of a
// batch are dense in the CPU's cache, and a connection without output holds no memory.
//
//   shared block   | A's reply | B's reply | C's re...            |
//                  ^ segment of A's output  ^ tail: the next writer starts here
//
//   I1  Only one output at a time appends to the shared block. The first byte of another output closes the writer's segment.
//   I2  The arena counts as a user of the current shared block, and so does each segment in it.
//   I3  If the arena is the only user, every byte before the tail was sent, and the tail returns to the start.
//
// Output that a client does not read at once is moved to blocks of its own (OutputBuffer.MoveToOwnBlocks). Otherwise, a few bytes for a
// slow reader would hold the whole block.
namespace Cairn.Server.Buffers;

internal sealed class OutputArena
{
    public const int SharedBlockBytes = 64 << 10;

    private readonly BlockPool _pool;
    private Block? _shared;
    private int _tail;
    private OutputBuffer? _writer;
    private OutputSegment? _freeSegments;

    public OutputArena(BlockPool pool) => _pool = pool;

    /// <summary>Gets or sets the number of unsent bytes at which an output is full. The worker sets it in each turn, according to the
    /// free memory.</summary>
    public int FullAt { get; set; } = OutputBuffer.FullBytes;

    /// <summary>Opens a segment at the shared block's tail, or in a block of its own if it is long. <paramref name="writer"/> may fill it
    /// up to <paramref name="limit"/>.</summary>
    public OutputSegment Open(OutputBuffer writer, int atLeast, out int limit)
    {
        _writer?.CloseSegment();
        Debug.Assert(_writer is null, "I1: the writer left.");

        if (atLeast > SharedBlockBytes / 4)
        {
            // Long: the rest of the shared block would be wasted, although others will need it soon.
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

    /// <summary>Releases the shared block if it is empty, and free segments.</summary>
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

    /// <summary>Ends the writer's segment at this position, so that others may write.</summary>
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

    /// <summary>Returns a segment with a block of its own.</summary>
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

    /// <summary>Gets or sets the position of the first unsent byte.</summary>
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
