using Cairn.Protocol.Resp;

namespace Cairn.Protocol;

/// <summary>
/// Reads a reply element by element, in the order of the input: an array first, then its elements. It copies and allocates nothing.
/// </summary>
/// <remarks>
/// The input should be a reply that <see cref="RespReplyScanner"/> found to be complete. On other input <see cref="Read"/> ends early.
/// </remarks>
internal ref struct RespReplyReader
{
    private const int FormatBytes = 4; // The format of a verbatim string, with the colon.

    // The scanner has applied the client's limits. These limits only keep sums within an int.
    private static readonly RespReplyLimits NoLimits = new() { MaxLineBytes = int.MaxValue, MaxBulkBytes = int.MaxValue };

    private readonly ReadOnlySpan<byte> _input;
    private RespElement _element;
    private int _position;

    /// <summary>Creates a reader before the first element.</summary>
    /// <param name="reply">One reply, or several consecutive replies.</param>
    public RespReplyReader(ReadOnlySpan<byte> reply) => _input = reply;

    /// <summary>Gets the type of the element; <see cref="RespType.Null"/> for all forms of null.</summary>
    public readonly RespType Type => _element.Type;

    /// <summary>Gets a value that says whether the element is null.</summary>
    public readonly bool IsNull => Type == RespType.Null;

    /// <summary>Gets a value that says whether the element is an error. <see cref="Value"/> then is its text.</summary>
    public readonly bool IsError => Type is RespType.Error or RespType.BulkError;

    /// <summary>
    /// Gets the bytes of a string, or the text of an error or a number. The value of a verbatim string does not include its format.
    /// </summary>
    public readonly ReadOnlySpan<byte> Value =>
        Type == RespType.VerbatimString ? _element.Value.Of(_input)[FormatBytes..] : _element.Value.Of(_input);

    /// <summary>Gets the format of a verbatim string, such as <c>txt</c>; empty for other types.</summary>
    public readonly ReadOnlySpan<byte> Format =>
        Type == RespType.VerbatimString ? _element.Value.Of(_input)[..(FormatBytes - 1)] : default;

    /// <summary>
    /// Gets the number of elements of an array, set or push, or of pairs of a map or attributes; 0 for other types. The next reads return
    /// these elements.
    /// </summary>
    public readonly int Count => _element.Count;

    /// <summary>Gets the value of a boolean; false for other types.</summary>
    public readonly bool Boolean => Type == RespType.Boolean && _element.Integer != 0;

    /// <summary>Gets the number of bytes read so far.</summary>
    public readonly int Position => _position;

    /// <summary>Moves to the next element.</summary>
    /// <returns><see langword="false"/> at the end of the reply.</returns>
    public bool Read() =>
        RespElement.TryRead(_input, ref _position, NoLimits, out _element, out _) == ParseStatus.Complete;

    /// <summary>Skips the elements within the current one. The next <see cref="Read"/> returns the element after them.</summary>
    public void Skip()
    {
        long pending = _element.ChildCount;
        while (pending > 0 && Read())
        {
            pending += _element.ChildCount - (Type == RespType.Attribute ? 0 : 1);
        }
    }

    /// <summary>Returns the element as a whole number, if it is one or a string that contains one.</summary>
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

    /// <summary>Returns the element as a floating-point number, if it is a number or a string that contains one.</summary>
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
