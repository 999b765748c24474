using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>
/// Writes RESP2 and RESP3: replies for a server, requests for a client. What RESP2 has no form for is written as Redis writes it
/// to a RESP2 client.
/// </summary>
/// <remarks>
/// Over a buffer writer, what was written is the buffer writer's after <see cref="Flush"/> and not before; nothing else may
/// use it in between. Over a span, what does not fit is an <see cref="InvalidOperationException"/>.
/// </remarks>
public ref struct RespWriter
{
    /// <summary>Longest header of a bulk string, array or other type with a length, in bytes.</summary>
    public const int MaxHeaderBytes = 24;

    private OutputWindow _output;

    /// <summary>Writes into a span.</summary>
    /// <param name="destination">Long enough for all that will be written, and <see cref="MaxHeaderBytes"/> more.</param>
    /// <param name="isResp3">The client understands RESP3.</param>
    public RespWriter(Span<byte> destination, bool isResp3 = false)
    {
        _output = new OutputWindow(destination);
        IsResp3 = isResp3;
    }

    /// <summary>Writes to a buffer writer.</summary>
    /// <param name="output">Taken for the writer's alone until <see cref="Flush"/>.</param>
    /// <param name="isResp3">The client understands RESP3.</param>
    public RespWriter(IBufferWriter<byte> output, bool isResp3 = false)
    {
        _output = new OutputWindow(output);
        IsResp3 = isResp3;
    }

    /// <summary>Whether RESP3 is written; HELLO may change it between two replies.</summary>
    public bool IsResp3 { get; set; }

    /// <summary>Errors written so far.</summary>
    public int ErrorCount { get; private set; }

    /// <summary>Bytes written that were not handed on; for a span, all that were written.</summary>
    public readonly int PendingBytes => _output.Pending;

    /// <summary>Hands what was written to the buffer writer. The writer can go on.</summary>
    public void Flush() => _output.Flush();

    /// <summary>Room for bytes that the caller writes in place; <see cref="Advance"/> says how many they became.</summary>
    /// <param name="bytes">At least this many. Until then, <see cref="PendingBytes"/> stays a point to rewind to.</param>
    public Span<byte> Reserve(int bytes) => _output.Reserve(bytes);

    /// <summary>Counts bytes in that were written into <see cref="Reserve"/>'s span.</summary>
    /// <param name="bytes">Not more than were reserved.</param>
    public void Advance(int bytes) => _output.Advance(bytes);

    /// <summary>Takes back what was written since <see cref="PendingBytes"/> was read.</summary>
    /// <param name="pendingBytes">What it was; nothing may have been flushed and no more than reserved written since.</param>
    public void Rewind(int pendingBytes) => _output.Rewind(pendingBytes);

    /// <summary>Writes bytes as they are.</summary>
    /// <param name="bytes">Any.</param>
    public void WriteRaw(scoped ReadOnlySpan<byte> bytes) => _output.Write(bytes);

    /// <summary>A simple string.</summary>
    /// <param name="text">Line ends in it are written as spaces.</param>
    public void WriteSimple(scoped ReadOnlySpan<byte> text) => WriteLine((byte)'+', text);

    /// <summary><c>+OK</c></summary>
    public void WriteOk() => _output.Write("+OK\r\n"u8);

    /// <summary>An error.</summary>
    /// <param name="text">With its code, such as <c>ERR syntax error</c>. Line ends in it are written as spaces.</param>
    public void WriteError(scoped ReadOnlySpan<byte> text)
    {
        ErrorCount++;
        WriteLine((byte)'-', text);
    }

    /// <summary>A number.</summary>
    /// <param name="value">The number.</param>
    public void WriteInteger(long value)
    {
        if ((ulong)value < 10)
        {
            var digit = _output.Reserve(4);
            BinaryPrimitives.WriteUInt32LittleEndian(digit, (uint)(':' | ((int)('0' + value) << 8) | ('\r' << 16) | ('\n' << 24)));
            _output.Advance(4);
            return;
        }

        WriteHeader((byte)':', value);
    }

    /// <summary>A bulk string.</summary>
    /// <param name="value">Any bytes.</param>
    public void WriteBulk(scoped ReadOnlySpan<byte> value)
    {
        WriteHeader((byte)'$', value.Length);
        _output.Write(value);
        _output.WriteLineEnd();
    }

    /// <summary>A number as a bulk string, as commands take their arguments.</summary>
    /// <param name="value">The number.</param>
    [SkipLocalsInit]
    public void WriteBulk(long value)
    {
        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        WriteBulk(text[..DecimalText.Format(value, text)]);
    }

    /// <summary>The header of a bulk string. The value and <see cref="WriteLineEnd"/> have to follow.</summary>
    /// <param name="valueBytes">Length of the value.</param>
    public void WriteBulkHeader(int valueBytes) => WriteHeader((byte)'$', valueBytes);

    /// <summary>The end of a bulk string whose value was written in place.</summary>
    public void WriteLineEnd() => _output.WriteLineEnd();

    /// <summary>Nothing, in place of a bulk string.</summary>
    public void WriteNull() => _output.Write(IsResp3 ? "_\r\n"u8 : "$-1\r\n"u8);

    /// <summary>Nothing, in place of an array.</summary>
    public void WriteNullArray() => _output.Write(IsResp3 ? "_\r\n"u8 : "*-1\r\n"u8);

    /// <summary>The header of an array. Its elements have to follow.</summary>
    /// <param name="count">Number of elements.</param>
    public void WriteArrayHeader(int count) => WriteHeader((byte)'*', count);

    /// <summary>The header of a map; in RESP2 an array of twice as many. Keys and values have to follow in turn.</summary>
    /// <param name="pairs">Number of keys.</param>
    public void WriteMapHeader(int pairs)
    {
        if (IsResp3)
        {
            WriteHeader((byte)'%', pairs);
        }
        else
        {
            WriteHeader((byte)'*', 2L * pairs);
        }
    }

    /// <summary>The header of a set; in RESP2 an array. Its elements have to follow.</summary>
    /// <param name="count">Number of elements.</param>
    public void WriteSetHeader(int count) => WriteHeader(IsResp3 ? (byte)'~' : (byte)'*', count);

    /// <summary>The header of a push; in RESP2 an array. Its elements have to follow.</summary>
    /// <param name="count">Number of elements.</param>
    public void WritePushHeader(int count) => WriteHeader(IsResp3 ? (byte)'>' : (byte)'*', count);

    /// <summary>The header of attributes. Keys and values have to follow in turn, and then what they describe.</summary>
    /// <param name="pairs">Number of keys.</param>
    /// <exception cref="InvalidOperationException">RESP2 is written, which has nothing like it.</exception>
    public void WriteAttributeHeader(int pairs)
    {
        if (!IsResp3)
        {
            ThrowNotInResp2();
        }

        WriteHeader((byte)'|', pairs);
    }

    /// <summary>True or false; in RESP2 the number 1 or 0.</summary>
    /// <param name="value">Which.</param>
    public void WriteBoolean(bool value) =>
        _output.Write((IsResp3, value) switch
        {
            (true, true) => "#t\r\n"u8,
            (true, false) => "#f\r\n"u8,
            (false, true) => ":1\r\n"u8,
            (false, false) => ":0\r\n"u8,
        });

    /// <summary>A floating-point number; in RESP2 a bulk string.</summary>
    /// <param name="value">Written as <see cref="DoubleText.Format"/> writes it.</param>
    [SkipLocalsInit]
    public void WriteDouble(double value)
    {
        Span<byte> text = stackalloc byte[DoubleText.MaxBytes];
        text = text[..DoubleText.Format(value, text)];
        if (IsResp3)
        {
            WriteLine((byte)',', text);
        }
        else
        {
            WriteBulk(text);
        }
    }

    /// <summary>A text of a known format; in RESP2 a bulk string.</summary>
    /// <param name="text">Any bytes.</param>
    /// <param name="format">Three bytes, such as <c>txt</c> or <c>mkd</c>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The format is not three bytes long.</exception>
    public void WriteVerbatim(scoped ReadOnlySpan<byte> text, scoped ReadOnlySpan<byte> format)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(format.Length, 3, nameof(format));
        if (!IsResp3)
        {
            WriteBulk(text);
            return;
        }

        WriteHeader((byte)'=', text.Length + 4L);
        _output.Write(format);
        _output.WriteByte((byte)':');
        _output.Write(text);
        _output.WriteLineEnd();
    }

    /// <summary>A whole number of any length; in RESP2 a bulk string.</summary>
    /// <param name="digits">Decimal digits, a minus before them if need be.</param>
    public void WriteBigNumber(scoped ReadOnlySpan<byte> digits)
    {
        if (IsResp3)
        {
            WriteLine((byte)'(', digits);
        }
        else
        {
            WriteBulk(digits);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void WriteHeader(byte type, long number)
    {
        var header = _output.Reserve(MaxHeaderBytes);
        header[0] = type;
        int length = 1 + DecimalText.Format(number, header[1..]);
        BinaryPrimitives.WriteUInt16LittleEndian(header[length..], '\r' | ('\n' << 8));
        _output.Advance(length + 2);
    }

    // A line end within the text would be the message's end to the other side, and what follows it another message.
    private void WriteLine(byte type, scoped ReadOnlySpan<byte> text)
    {
        _output.WriteByte(type);
        while (text.IndexOfAny((byte)'\r', (byte)'\n') is var end and >= 0)
        {
            _output.Write(text[..end]);
            _output.WriteByte((byte)' ');
            text = text[(end + 1)..];
        }

        _output.Write(text);
        _output.WriteLineEnd();
    }

    [DoesNotReturn]
    private static void ThrowNotInResp2() => throw new InvalidOperationException("RESP2 has no attributes.");
}
