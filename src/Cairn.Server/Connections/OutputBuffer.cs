using System.Diagnostics;
using System.Runtime.CompilerServices;
using Cairn.Server.Io;

namespace Cairn.Server.Connections;

/// <summary>
/// What a connection is about to send: append only; the engine takes it from the front. Used on the connection's worker only.
/// Between <see cref="Reserve"/> and <see cref="Advance"/> nothing may be written to another connection's output.
/// </summary>
internal sealed class OutputBuffer
{
    /// <summary>Unsent bytes from which on a connection is not served until its client has read.</summary>
    public const int FullBytes = 64 << 10;

    /// <summary>The same while memory is short.</summary>
    public const int FullBytesWhenShort = 4 << 10;

    private const int SmallestOwnBytes = 1 << 10;
    private const int LargestOwnBytes = 16 << 10;

    private readonly OutputArena _arena;

    // The open segment's block; the segment itself is the chain's last. No block means no segment is open.
    private Block? _block;
    private int _position;
    private int _limit;
    private int _openedAt;

    private OutputSegment? _first;
    private OutputSegment? _last;
    private OutputSegment? _beforeOpen;
    private OutputSegment? _lastOwn; // Up to here every segment is known to be in a block of its own.
    private long _closedBytes;

    /// <summary>An output with memory of its own, for tests of sessions.</summary>
    public OutputBuffer()
        : this(new OutputArena(new BlockPool(new MemoryAccount(long.MaxValue))))
    {
    }

    public OutputBuffer(OutputArena arena) => _arena = arena;

    /// <summary>Bytes written here that the client was not sent yet.</summary>
    public long UnsentBytes => _closedBytes + (_position - _openedAt) + (Downstream?.UnsentBytes ?? 0);

    /// <summary>Whether a session must stop: so much is unsent that the client has to read first.</summary>
    public bool IsFull => UnsentBytes >= FullAt;

    /// <summary>Unsent bytes at which it is full for now.</summary>
    public int FullAt => _arena.FullAt;

    /// <summary>Where these bytes go, encrypted, before they are sent.</summary>
    internal OutputBuffer? Downstream { get; set; }

    /// <summary>Bytes that are still here, and not downstream.</summary>
    internal long OwnUnsentBytes => _closedBytes + (_position - _openedAt);

    /// <summary>The oldest bytes; null if there are none. Valid after <see cref="CloseSegment"/>.</summary>
    internal OutputSegment? First => _first;

    /// <summary>Room to write at the end; what is written counts from <see cref="Advance"/> on.</summary>
    /// <returns><paramref name="atLeast"/> bytes or more.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Reserve(int atLeast)
    {
        if (_limit - _position < atLeast || _block is null)
        {
            Grow(atLeast);
        }

        return _block!.Span[_position.._limit];
    }

    /// <summary>Appends the first bytes of what <see cref="Reserve"/> gave.</summary>
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

    /// <summary>A copy of all that is unsent, for tests.</summary>
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

    /// <summary>Drops all that is unsent.</summary>
    public void Clear()
    {
        CloseSegment();
        while (_first is not null)
        {
            RemoveFirst();
        }

        _closedBytes = 0;
    }

    /// <summary>Ends the open segment, so that the chain from <see cref="First"/> on is complete and others may write to the
    /// shared block. An empty segment goes at once.</summary>
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

    /// <summary>The first bytes were sent.</summary>
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

    /// <summary>Moves what lies in shared blocks to blocks that are this connection's alone: it will stay a while.</summary>
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
                // Larger each time: many short messages should not become many blocks.
                int likely = previous is null ? SmallestOwnBytes : Math.Min(2 * previous.Block.Length, LargestOwnBytes);
                OutputSegment own = _arena.OwnSegment(Math.Max(likely, bytes.Length));
                Link(previous, own);
                previous = own;
            }

            // The kernel may be reading what precedes the end; what follows it is nobody's yet.
            bytes.CopyTo(previous.Block.Span[previous.End..]);
            previous.End += bytes.Length;
            previous.Next = next;
            _arena.Recycle(segment);
            segment = previous;
        }

        _last = _lastOwn = previous;
    }

    /// <summary>Names the first segments for the kernel.</summary>
    /// <returns>How many.</returns>
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
