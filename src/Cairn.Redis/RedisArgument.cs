using Cairn.Protocol;

namespace Cairn.Redis;

/// <summary>A word of a command: a key, a value, a name or a number. Text is sent as UTF-8, numbers as decimal text.</summary>
/// <remarks>Bytes are not copied. They must not change until the call that uses the argument completes.</remarks>
[StructLayout(LayoutKind.Auto)]
public readonly struct RedisArgument : IEquatable<RedisArgument>
{
    private readonly object? _text;
    private readonly ReadOnlyMemory<byte> _bytes;
    private readonly long _number;
    private readonly Kind _kind;

    /// <summary>Creates an argument from text.</summary>
    /// <param name="text">The text, sent as UTF-8.</param>
    public RedisArgument(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        _text = text;
        _kind = Kind.Text;
    }

    /// <summary>Creates an argument from bytes.</summary>
    /// <param name="bytes">The bytes, sent unchanged.</param>
    public RedisArgument(ReadOnlyMemory<byte> bytes)
    {
        _bytes = bytes;
        _kind = Kind.Bytes;
    }

    /// <summary>Creates an argument from a sequence of bytes.</summary>
    /// <param name="bytes">The bytes, sent unchanged and in order.</param>
    public RedisArgument(ReadOnlySequence<byte> bytes)
    {
        if (bytes.IsSingleSegment)
        {
            _bytes = bytes.First;
            _kind = Kind.Bytes;
        }
        else
        {
            _text = bytes;
            _kind = Kind.Pieces;
        }
    }

    /// <summary>Creates an argument from a number.</summary>
    /// <param name="number">The number, sent as decimal text.</param>
    public RedisArgument(long number)
    {
        _number = number;
        _kind = Kind.Number;
    }

    private RedisArgument(string text, Kind kind)
    {
        _text = text;
        _kind = kind;
    }

    private enum Kind : byte
    {
        Bytes = 0,
        Text,
        Channel,
        Number,
        Pieces,
    }

    /// <summary>Converts text to an argument.</summary>
    /// <param name="text">The text, sent as UTF-8.</param>
    public static implicit operator RedisArgument(string text) => new(text);

    /// <summary>Converts bytes to an argument.</summary>
    /// <param name="bytes">The bytes, sent unchanged.</param>
    public static implicit operator RedisArgument(byte[] bytes) => new((ReadOnlyMemory<byte>)bytes);

    /// <summary>Converts bytes to an argument.</summary>
    /// <param name="bytes">The bytes, sent unchanged.</param>
    public static implicit operator RedisArgument(ReadOnlyMemory<byte> bytes) => new(bytes);

    /// <summary>Converts a number to an argument.</summary>
    /// <param name="number">The number, sent as decimal text.</param>
    public static implicit operator RedisArgument(long number) => new(number);

    /// <summary>Returns whether two arguments are the same bytes on the wire.</summary>
    /// <param name="left">The first argument.</param>
    /// <param name="right">The second argument.</param>
    public static bool operator ==(RedisArgument left, RedisArgument right) => left.Equals(right);

    /// <summary>Returns whether two arguments are different bytes on the wire.</summary>
    /// <param name="left">The first argument.</param>
    /// <param name="right">The second argument.</param>
    public static bool operator !=(RedisArgument left, RedisArgument right) => !left.Equals(right);

    /// <summary>Returns a copy of the bytes on the wire.</summary>
    public byte[] ToArray()
    {
        byte[] bytes = new byte[ByteCount];
        CopyTo(bytes);
        return bytes;
    }

    /// <inheritdoc/>
    public bool Equals(RedisArgument other) => ToArray().AsSpan().SequenceEqual(other.ToArray());

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is RedisArgument other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(ToArray());
        return hash.ToHashCode();
    }

    /// <inheritdoc/>
    public override string ToString() => Encoding.UTF8.GetString(ToArray());

    /// <summary>Gets whether the argument is the name of a channel. A client can put a prefix before it.</summary>
    internal bool IsChannel => _kind == Kind.Channel;

    /// <summary>Creates an argument from the name of a channel.</summary>
    internal static RedisArgument ForChannel(string name) => new(name, Kind.Channel);

    /// <summary>Returns the bytes on the wire, without a copy if the argument was created from bytes.</summary>
    internal ReadOnlyMemory<byte> ToMemory() => _kind == Kind.Bytes ? _bytes : ToArray();

    internal int ByteCount => _kind switch
    {
        Kind.Text or Kind.Channel => Encoding.UTF8.GetByteCount((string)_text!),
        Kind.Number => DecimalLength(_number),
        Kind.Pieces => checked((int)((ReadOnlySequence<byte>)_text!).Length),
        _ => _bytes.Length,
    };

    /// <summary>Returns whether the argument is this word, ignoring case. Command words are ASCII.</summary>
    internal bool Is(string word) => _kind switch
    {
        Kind.Text => string.Equals((string)_text!, word, StringComparison.OrdinalIgnoreCase),
        Kind.Bytes => _bytes.Length == word.Length && Ascii.EqualsIgnoreCase(_bytes.Span, word),
        _ => false,
    };

    internal bool TryGetNumber(out long number)
    {
        number = _number;
        return _kind == Kind.Number || DecimalText.TryParseInt64(ToArray(), out number);
    }

    internal int CopyTo(Span<byte> destination)
    {
        switch (_kind)
        {
            case Kind.Text or Kind.Channel:
                return Encoding.UTF8.GetBytes((string)_text!, destination);
            case Kind.Number:
                return DecimalText.Format(_number, destination);
            case Kind.Pieces:
                var pieces = (ReadOnlySequence<byte>)_text!;
                pieces.CopyTo(destination);
                return (int)pieces.Length;
            default:
                _bytes.Span.CopyTo(destination);
                return _bytes.Length;
        }
    }

    internal void WriteTo(ref RespWriter writer)
    {
        switch (_kind)
        {
            case Kind.Text or Kind.Channel:
                WriteText(ref writer, (string)_text!);
                break;
            case Kind.Number:
                writer.WriteBulk(_number);
                break;
            case Kind.Pieces:
                var pieces = (ReadOnlySequence<byte>)_text!;
                writer.WriteBulkHeader(checked((int)pieces.Length));
                foreach (ReadOnlyMemory<byte> piece in pieces)
                {
                    writer.WriteRaw(piece.Span);
                }

                writer.WriteLineEnd();
                break;
            default:
                writer.WriteBulk(_bytes.Span);
                break;
        }
    }

    private static void WriteText(ref RespWriter writer, string text)
    {
        int bytes = Encoding.UTF8.GetByteCount(text);
        writer.WriteBulkHeader(bytes);
        writer.Advance(Encoding.UTF8.GetBytes(text, writer.Reserve(bytes)));
        writer.WriteLineEnd();
    }

    private static int DecimalLength(long number)
    {
        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        return DecimalText.Format(number, text);
    }
}
