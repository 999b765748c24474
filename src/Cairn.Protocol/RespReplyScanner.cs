using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

// A reply is a tree in depth-first order. To find its end, it is enough to know the number of missing elements on each level. The scanner
// keeps these numbers and its position, so it reads each byte only once even if a reply arrives in many packets.
//
//   _remaining[0] = 1                      the reply itself
//   _remaining[d] = missing elements of the element that began at level d - 1
//
// An element reduces the count of its level when it begins. Attributes do not: they begin a level like other types, but they are not
// elements of the level that contains them.

/// <summary>
/// Finds the end of a reply and checks all of it. <see cref="RespReplyReader"/> can then read the reply without incomplete or invalid
/// input. Each connection needs its own scanner.
/// </summary>
/// <remarks>Supports RESP2 and RESP3 except streamed types, which no server sends. Not safe from several threads at once.</remarks>
internal sealed class RespReplyScanner
{
    private const int InitialDepth = 8;

    private readonly RespReplyLimits _limits;
    private long[] _remaining = new long[InitialDepth];
    private int _depth = -1;
    private int _position;
    private bool _isFailed;

    /// <summary>Creates a scanner for a new connection.</summary>
    /// <param name="limits">The limits; <see cref="RespReplyLimits.Default"/> if null.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit is negative, or the depth is below 1.</exception>
    public RespReplyScanner(RespReplyLimits? limits = null)
    {
        _limits = limits ?? RespReplyLimits.Default;
        ArgumentOutOfRangeException.ThrowIfLessThan(_limits.MaxDepth, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxBulkBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxLineBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxReplyBytes);
    }

    /// <summary>
    /// Gets, after <see cref="ParseStatus.Incomplete"/>, the length that the input must have before another call can make progress: at
    /// least one byte more than before.
    /// </summary>
    public int NeededBytes { get; private set; }

    /// <summary>Searches for the end of the reply at the start of <paramref name="input"/>.</summary>
    /// <param name="input">
    /// The bytes that have arrived and are not consumed. After <see cref="ParseStatus.Incomplete"/>, the next input must begin with the
    /// same bytes.
    /// </param>
    /// <param name="replyBytes">The length of the reply with all its elements, in bytes; 0 unless it is complete.</param>
    /// <returns>Complete, incomplete, or fatal if the input is not RESP or exceeds a limit.</returns>
    public ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes)
    {
        replyBytes = 0;
        if (_isFailed)
        {
            return ParseStatus.Fatal;
        }

        if (_depth < 0)
        {
            Push(1);
        }

        do
        {
            var status = RespElement.TryRead(input, ref _position, _limits, out var element, out long neededBytes);
            if (status == ParseStatus.Incomplete && neededBytes <= _limits.MaxReplyBytes)
            {
                NeededBytes = (int)neededBytes;
                return status;
            }

            if (status != ParseStatus.Complete || _position > _limits.MaxReplyBytes || !TryCount(element))
            {
                _isFailed = true;
                return ParseStatus.Fatal;
            }
        }
        while (_depth >= 0);

        replyBytes = _position;
        _position = 0;
        return ParseStatus.Complete;
    }

    /// <summary>Resets the scanner for a new connection.</summary>
    public void Reset()
    {
        _depth = -1;
        _position = 0;
        _isFailed = false;
        NeededBytes = 0;
    }

    // Reduces the count of the element's level and begins the element's own level. Also ends all levels that are now complete.
    private bool TryCount(in RespElement element)
    {
        if (element.Type != RespType.Attribute)
        {
            _remaining[_depth]--;
        }

        if (element.ChildCount > 0)
        {
            if (_depth >= _limits.MaxDepth)
            {
                return false;
            }

            Push(element.ChildCount);
            return true;
        }

        while (_depth >= 0 && _remaining[_depth] == 0)
        {
            _depth--;
        }

        return true;
    }

    private void Push(long count)
    {
        _depth++;
        if (_depth == _remaining.Length)
        {
            Array.Resize(ref _remaining, _depth * 2);
        }

        _remaining[_depth] = count;
    }
}
