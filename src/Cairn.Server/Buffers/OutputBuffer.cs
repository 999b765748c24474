using Cairn.Server.Platform;

namespace Cairn.Server.Buffers;

/// <summary>
/// The output of a connection. The session appends at the end; the engine removes at the front. Worker only. Between
/// <see cref="Reserve"/> and <see cref="Advance"/>, no other connection's output may be written.
/// </summary>
internal sealed class OutputBuffer
{
    /// <summary>The number of unsent bytes from which on a connection is not served until its client has read.</summary>
    public const int FullBytes = 64 << 10;

    /// <summary>The same number while memory is short.</summary>
    public const int FullBytesWhenShort = 4 << 10;

    private const int SmallestOwnBytes = 1 << 10;
    private const int LargestOwnBytes = 16 << 10;

    private readonly OutputArena _arena;

    // The open segment's block. The segment itself is the last of the chain. Null if no segment is open.
    private Block? _block;
    private int _position;
    private int _limit;
    private int _openedAt;

    private OutputSegment? _first;
    private OutputSegment? _last;
    private OutputSegment? _beforeOpen;
    private OutputSegment? _lastOwn; // Up to here, every segment is known to have a block of its own.
    private long _closedBytes;

    /// <summary>Creates an output with its own memory, for tests of sessions.</summary>
    public OutputBuffer()
        : this(new OutputArena(new BlockPool(new MemoryAccount(long.MaxValue))))
    {
    }

    public OutputBuffer(OutputArena arena) => _arena = arena;

    /// <summary>Gets the number of bytes written here that were not sent yet.</summary>
    public long UnsentBytes => _closedBytes + (_position - _openedAt) + (Downstream?.UnsentBytes ?? 0);

    /// <summary>Gets whether a session must stop, because the client has to read first.</summary>
    public bool IsFull => UnsentBytes >= FullAt;

    /// <summary>Gets the number of unsent bytes at which the output is full at present.</summary>
    public int FullAt => _arena.FullAt;

    /// <summary>Gets or sets the output that these bytes go to, encrypted, before they are sent.</summary>
    internal OutputBuffer? Downstream { get; set; }

    /// <summary>Gets the oldest segment; null if there is none. Valid after <see cref="CloseSegment"/>.</summary>
    internal OutputSegment? First => _first;

    /// <summary>Returns room to write at the end. The bytes count as written after <see cref="Advance"/>.</summary>
    /// <returns>A span of <paramref name="atLeast"/> bytes or more.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Reserve(int atLeast)
    {
        if (_limit - _position < atLeast || _block is null)
        {
            Grow(atLeast);
        }

        return _block!.Span[_position.._limit];
    }

    /// <summary>Appends the first bytes of the room that <see cref="Reserve"/> returned.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Advance(int bytes)
    {
        Debug.Assert((uint)bytes <= (uint)(_limit - _position), "No more than was reserved.");
        _position += bytes;
    }

    /// <summary>Appends a copy of these bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Reserve(bytes.Length));
        _position += bytes.Length;
    }

    /// <summary>Returns a copy of all unsent bytes, for tests.</summary>
    public byte[] ToArray()
    {
        CloseSegment();
        byte[] copy = new byte[_closedBytes];
        int offset = 0;
        for (OutputSegment? segment = _first; segment is not null; segment = segment.Next)
        {
            segment.Bytes.CopyTo(copy.AsSpan(offset));
            offset += segment.Length;
        }

        return copy;
    }

    /// <summary>Discards all unsent bytes.</summary>
    public void Clear()
    {
        CloseSegment();
        while (_first is not null)
        {
            RemoveFirst();
        }

        _closedBytes = 0;
    }

    /// <summary>Ends the open segment, so that the chain from <see cref="First"/> is complete and others may write to the shared block.
    /// Removes an empty segment at once.</summary>
    internal void CloseSegment()
    {
        if (_block is null)
        {
            return;
        }

        OutputSegment segment = _last!;
        _arena.Close(this, segment, _position);
        _closedBytes += segment.Length;
        _block = null;
        _position = _limit = _openedAt = 0;
        if (segment.Length == 0)
        {
            Link(_beforeOpen, null);
            _last = _beforeOpen;
            _arena.Recycle(segment);
        }

        _beforeOpen = null;
    }

    /// <summary>Removes the first bytes, which were sent.</summary>
    internal void Sent(long bytes)
    {
        Debug.Assert(bytes <= _closedBytes, "Only what is in closed segments is sent.");

        _closedBytes -= bytes;
        while (bytes > 0)
        {
            OutputSegment segment = _first!;
            if (bytes < segment.Length)
            {
                segment.Start += (int)bytes;
                return;
            }

            bytes -= segment.Length;
            RemoveFirst();
        }
    }

    /// <summary>Moves bytes from shared blocks to blocks of this connection, because they will stay for a while.</summary>
    internal void MoveToOwnBlocks()
    {
        CloseSegment();
        OutputSegment? previous = _lastOwn;
        for (OutputSegment? segment = previous is null ? _first : previous.Next; segment is not null; segment = segment.Next)
        {
            if (!segment.IsShared)
            {
                previous = segment;
                continue;
            }

            OutputSegment? next = segment.Next;
            ReadOnlySpan<byte> bytes = segment.Bytes;
            if (previous is null || previous.Block.Length - previous.End < bytes.Length)
            {
                // Each block is larger than the one before, so that many short messages do not become many blocks.
                int likely = previous is null ? SmallestOwnBytes : Math.Min(2 * previous.Block.Length, LargestOwnBytes);
                OutputSegment own = _arena.OwnSegment(Math.Max(likely, bytes.Length));
                Link(previous, own);
                previous = own;
            }

            // The kernel may be reading the bytes before the end. The bytes behind it are not in use yet.
            bytes.CopyTo(previous.Block.Span[previous.End..]);
            previous.End += bytes.Length;
            previous.Next = next;
            _arena.Recycle(segment);
            segment = previous;
        }

        _last = _lastOwn = previous;
    }

    /// <summary>Describes the first segments for the kernel.</summary>
    /// <returns>The number of segments described.</returns>
    internal unsafe int Describe(LinuxSockets.IoVector* vectors, int most, out long bytes)
    {
        int count = 0;
        bytes = 0;
        for (OutputSegment? segment = _first; segment is not null && count < most; segment = segment.Next)
        {
            vectors[count++] = new LinuxSockets.IoVector { Start = segment.Pointer, Length = (nuint)segment.Length };
            bytes += segment.Length;
        }

        return count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int atLeast)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(atLeast);
        CloseSegment();
        OutputSegment segment = _arena.Open(this, Math.Max(atLeast, 1), out _limit);
        if (_last is null)
        {
            _first = segment;
        }
        else
        {
            _last.Next = segment;
        }

        _beforeOpen = _last;
        _last = segment;
        _block = segment.Block;
        _position = _openedAt = segment.Start;
    }

    private void RemoveFirst()
    {
        OutputSegment segment = _first!;
        _first = segment.Next;
        if (_first is null)
        {
            _last = null;
        }

        if (ReferenceEquals(_lastOwn, segment))
        {
            _lastOwn = null;
        }

        if (ReferenceEquals(_beforeOpen, segment))
        {
            _beforeOpen = null;
        }

        _arena.Recycle(segment);
    }

    private void Link(OutputSegment? previous, OutputSegment? next)
    {
        if (previous is null)
        {
            _first = next;
        }
        else
        {
            previous.Next = next;
        }
    }
}
