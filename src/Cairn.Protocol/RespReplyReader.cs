using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

/// <summary>
/// Goes through a reply element by element, in the order in which they are written: an array first, then its elements.
/// Nothing is copied or allocated.
/// </summary>
/// <remarks>
/// Meant for a reply that <see cref="RespReplyScanner"/> found to be complete. On other input <see cref="Read"/> ends early.
/// </remarks>
public ref struct RespReplyReader
{
    private const int FormatBytes = 4; // Of a verbatim string, with the colon.

    // The scanner has applied the client's limits; these only keep sums within an int.
    private static readonly RespReplyLimits NoLimits = new() { MaxLineBytes = int.MaxValue, MaxBulkBytes = int.MaxValue };

    private readonly ReadOnlySpan<byte> _input;
    private RespElement _element;
    private int _position;

    /// <summary>Begins before the first element.</summary>
    /// <param name="reply">One reply, or several in a row.</param>
    public RespReplyReader(ReadOnlySpan<byte> reply) => _input = reply;

    /// <summary>The element's type; <see cref="RespType.Null"/> for all forms of nothing.</summary>
    public readonly RespType Type => _element.Type;

    /// <summary>True if the element is nothing.</summary>
    public readonly bool IsNull => Type == RespType.Null;

    /// <summary>True if the element is an error; <see cref="Value"/> is its text.</summary>
    public readonly bool IsError => Type is RespType.Error or RespType.BulkError;

    /// <summary>The bytes of a string, the text of an error or number; of a verbatim string without its format.</summary>
    public readonly ReadOnlySpan<byte> Value =>
        Type == RespType.VerbatimString ? _element.Value.Of(_input)[FormatBytes..] : _element.Value.Of(_input);

    /// <summary>The format of a verbatim string, such as <c>txt</c>; empty for other types.</summary>
    public readonly ReadOnlySpan<byte> Format =>
        Type == RespType.VerbatimString ? _element.Value.Of(_input)[..(FormatBytes - 1)] : default;

    /// <summary>Elements of an array, set or push, pairs of a map or attributes, which come next; 0 for other types.</summary>
    public readonly int Count => _element.Count;

    /// <summary>The value of a boolean; false for other types.</summary>
    public readonly bool Boolean => Type == RespType.Boolean && _element.Integer != 0;

    /// <summary>Bytes read so far.</summary>
    public readonly int Position => _position;

    /// <summary>Moves to the next element.</summary>
    /// <returns><see langword="false"/> at the end of the reply.</returns>
    public bool Read() =>
        RespElement.TryRead(_input, ref _position, NoLimits, out _element, out _) == ParseStatus.Complete;

    /// <summary>Moves past the elements within the current one; <see cref="Read"/> goes on after them.</summary>
    public void Skip()
    {
        long pending = _element.ChildCount;
        while (pending > 0 && Read())
        {
            pending += _element.ChildCount - (Type == RespType.Attribute ? 0 : 1);
        }
    }

    /// <summary>The element as a whole number, if it is one or a string that is one.</summary>
    /// <param name="value">The number.</param>
    public readonly bool TryGetInt64(out long value)
    {
        if (Type is RespType.Integer or RespType.Boolean)
        {
            value = _element.Integer;
            return true;
        }

        return DecimalText.TryParseInt64(Value, out value);
    }

    /// <summary>The element as a floating-point number, if it is a number or a string that is one.</summary>
    /// <param name="value">The number.</param>
    public readonly bool TryGetDouble(out double value)
    {
        if (Type == RespType.Integer)
        {
            value = _element.Integer;
            return true;
        }

        return DoubleText.TryParse(Value, out value);
    }
}
