using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

// A reply is a tree written depth first. To find its end, it is enough to know for each level how many elements are still to
// come; the scanner keeps that and its position, so each byte is looked at once however many packets a reply comes in.
//
//   _remaining[0] = 1                      the reply itself
//   _remaining[d] = elements to come within the element begun at level d - 1
//
// An element is counted off its level when it begins. Attributes are not: they are a level like any other, but no element
// of the one they stand in.

/// <summary>
/// Finds where a reply ends, and checks all of it, so that <see cref="RespReplyReader"/> can read it without being interrupted
/// or in doubt. One scanner serves one connection.
/// </summary>
/// <remarks>RESP2 and RESP3 but for streamed types, which no server sends. Not safe from several threads at once.</remarks>
public sealed class RespReplyScanner
{
    private const int InitialDepth = 8;

    private readonly RespReplyLimits _limits;
    private long[] _remaining = new long[InitialDepth];
    private int _depth = -1;
    private int _position;
    private bool _isFailed;

    /// <summary>Creates one for a new connection.</summary>
    /// <param name="limits">What to accept; <see cref="RespReplyLimits.Default"/> if null.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit is negative, or allows no depth.</exception>
    public RespReplyScanner(RespReplyLimits? limits = null)
    {
        _limits = limits ?? RespReplyLimits.Default;
        ArgumentOutOfRangeException.ThrowIfLessThan(_limits.MaxDepth, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxBulkBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxLineBytes);
        ArgumentOutOfRangeException.ThrowIfNegative(_limits.MaxReplyBytes);
    }

    /// <summary>
    /// After <see cref="ParseStatus.Incomplete"/>: how long the input must be before another call can get further. At
    /// least one byte more than it was.
    /// </summary>
    public int NeededBytes { get; private set; }

    /// <summary>Looks for the end of the reply at the start of <paramref name="input"/>.</summary>
    /// <param name="input">
    /// What has arrived and was not consumed yet. After <see cref="ParseStatus.Incomplete"/>, the next input must begin with
    /// the same bytes.
    /// </param>
    /// <param name="replyBytes">Bytes of the reply with all its elements; 0 unless it is complete.</param>
    /// <returns>Complete, incomplete, or fatal if this is no RESP or beyond a limit.</returns>
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

    /// <summary>Forgets everything, as for a new connection.</summary>
    public void Reset()
    {
        _depth = -1;
        _position = 0;
        _isFailed = false;
        NeededBytes = 0;
    }

    // Counts the element off its level and begins its own. Levels that end with it end here.
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
