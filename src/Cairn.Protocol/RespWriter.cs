using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>
/// Writes RESP2 and RESP3: replies for a server, requests for a client. Types that RESP2 does not have are written in the form that Redis
/// sends to RESP2 clients.
/// </summary>
/// <remarks>
/// With a buffer writer, the written bytes reach it only with <see cref="Flush"/>, and no other code may use it until then. With a span,
/// output that does not fit throws an <see cref="InvalidOperationException"/>.
/// </remarks>
internal ref struct RespWriter
{
    /// <summary>The length of the longest header of a bulk string, array or other type with a length, in bytes.</summary>
    public const int MaxHeaderBytes = 24;

    private OutputWindow _output;

    /// <summary>Creates a writer over a span.</summary>
    /// <param name="destination">A span with room for the whole output and <see cref="MaxHeaderBytes"/> more.</param>
    /// <param name="isResp3">True if the client supports RESP3.</param>
    public RespWriter(Span<byte> destination, bool isResp3 = false)
    {
        _output = new OutputWindow(destination);
        IsResp3 = isResp3;
    }

    /// <summary>Creates a writer over a buffer writer.</summary>
    /// <param name="output">The buffer writer, used exclusively until <see cref="Flush"/>.</param>
    /// <param name="isResp3">True if the client supports RESP3.</param>
    public RespWriter(IBufferWriter<byte> output, bool isResp3 = false)
    {
        _output = new OutputWindow(output);
        IsResp3 = isResp3;
    }

    /// <summary>Gets or sets whether the output is RESP3. HELLO may change it between two replies.</summary>
    public bool IsResp3 { get; set; }

    /// <summary>Gets the number of errors written so far.</summary>
    public int ErrorCount { get; private set; }

    /// <summary>Gets the number of bytes that are written and not flushed; for a span, the number of all written bytes.</summary>
    public readonly int PendingBytes => _output.Pending;

    /// <summary>Passes the written bytes to the buffer writer. The writer can be used further.</summary>
    public void Flush() => _output.Flush();

    /// <summary>Returns space that the caller writes to directly. <see cref="Advance"/> then adds the written bytes to the output.</summary>
    /// <param name="bytes">The minimum size.</param>
    public Span<byte> Reserve(int bytes) => _output.Reserve(bytes);

    /// <summary>Adds bytes to the output that the caller wrote into the span of <see cref="Reserve"/>.</summary>
    /// <param name="bytes">The number of bytes, at most the reserved size.</param>
    public void Advance(int bytes) => _output.Advance(bytes);

    /// <summary>Writes bytes without a conversion.</summary>
    /// <param name="bytes">The bytes.</param>
    public void WriteRaw(scoped ReadOnlySpan<byte> bytes) => _output.Write(bytes);

    /// <summary>Writes a simple string.</summary>
    /// <param name="text">The text. Line ends in it are written as spaces.</param>
    public void WriteSimple(scoped ReadOnlySpan<byte> text) => WriteLine((byte)'+', text);

    /// <summary>Writes <c>+OK</c>.</summary>
    public void WriteOk() => _output.Write("+OK\r\n"u8);

    /// <summary>Writes an error.</summary>
    /// <param name="text">The text with its code, such as <c>ERR syntax error</c>. Line ends in it are written as spaces.</param>
    public void WriteError(scoped ReadOnlySpan<byte> text)
    {
        ErrorCount++;
        WriteLine((byte)'-', text);
    }

    /// <summary>Writes a number.</summary>
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

    /// <summary>Writes a bulk string.</summary>
    /// <param name="value">The bytes of the string.</param>
    public void WriteBulk(scoped ReadOnlySpan<byte> value)
    {
        WriteHeader((byte)'$', value.Length);
        _output.Write(value);
        _output.WriteLineEnd();
    }

    /// <summary>Writes a number as a bulk string, the form of command arguments.</summary>
    /// <param name="value">The number.</param>
    [SkipLocalsInit]
    public void WriteBulk(long value)
    {
        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        WriteBulk(text[..DecimalText.Format(value, text)]);
    }

    /// <summary>Writes the header of a bulk string. The caller then writes the value and calls <see cref="WriteLineEnd"/>.</summary>
    /// <param name="valueBytes">The length of the value.</param>
    public void WriteBulkHeader(int valueBytes) => WriteHeader((byte)'$', valueBytes);

    /// <summary>Writes the end of a bulk string whose value the caller wrote directly.</summary>
    public void WriteLineEnd() => _output.WriteLineEnd();

    /// <summary>Writes null instead of a bulk string.</summary>
    public void WriteNull() => _output.Write(IsResp3 ? "_\r\n"u8 : "$-1\r\n"u8);

    /// <summary>Writes null instead of an array.</summary>
    public void WriteNullArray() => _output.Write(IsResp3 ? "_\r\n"u8 : "*-1\r\n"u8);

    /// <summary>Writes the header of an array. The caller then writes its elements.</summary>
    /// <param name="count">The number of elements.</param>
    public void WriteArrayHeader(int count) => WriteHeader((byte)'*', count);

    /// <summary>
    /// Writes the header of a map; in RESP2 of an array with twice the length. The caller then writes keys and values alternately.
    /// </summary>
    /// <param name="pairs">The number of pairs.</param>
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

    /// <summary>Writes the header of a set; in RESP2 of an array. The caller then writes its elements.</summary>
    /// <param name="count">The number of elements.</param>
    public void WriteSetHeader(int count) => WriteHeader(IsResp3 ? (byte)'~' : (byte)'*', count);

    /// <summary>Writes the header of a push; in RESP2 of an array. The caller then writes its elements.</summary>
    /// <param name="count">The number of elements.</param>
    public void WritePushHeader(int count) => WriteHeader(IsResp3 ? (byte)'>' : (byte)'*', count);

    /// <summary>Writes a floating-point number; in RESP2 as a bulk string.</summary>
    /// <param name="value">The number, written in the form of <see cref="DoubleText.Format"/>.</param>
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

    /// <summary>Writes a text with its format; in RESP2 as a bulk string.</summary>
    /// <param name="text">The bytes of the text.</param>
    /// <param name="format">The format, three bytes such as <c>txt</c> or <c>mkd</c>.</param>
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

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void WriteHeader(byte type, long number)
    {
        var header = _output.Reserve(MaxHeaderBytes);
        header[0] = type;
        int length = 1 + DecimalText.Format(number, header[1..]);
        BinaryPrimitives.WriteUInt16LittleEndian(header[length..], '\r' | ('\n' << 8));
        _output.Advance(length + 2);
    }

    // A line end in the text would end the message for the receiver, and the rest of the text would look like another message.
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
}
