using System.Buffers;
using System.Buffers.Text;
using Cairn.Protocol.Memcached;
using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>Writes the replies of memcached's text protocol for a server.</summary>
/// <remarks>
/// With a buffer writer, the written bytes reach it only with <see cref="Flush"/>, and no other code may use it until then. With a span, a
/// reply that does not fit throws an <see cref="InvalidOperationException"/>.
/// </remarks>
internal ref struct MemcachedReplyWriter
{
    /// <summary>
    /// The longest <c>VALUE</c> or <c>VA</c> line before its flags, with its end, in bytes. The length of the key has to be added.
    /// </summary>
    public const int MaxValueLineBytes = 64;

    private OutputWindow _output;

    /// <summary>Creates a writer over a span.</summary>
    /// <param name="destination">A span with room for the whole output and <see cref="MaxValueLineBytes"/> more.</param>
    public MemcachedReplyWriter(Span<byte> destination) => _output = new OutputWindow(destination);

    /// <summary>Creates a writer over a buffer writer.</summary>
    /// <param name="output">The buffer writer, used exclusively until <see cref="Flush"/>.</param>
    public MemcachedReplyWriter(IBufferWriter<byte> output) => _output = new OutputWindow(output);

    /// <summary>Gets the number of bytes that are written and not flushed; for a span, the number of all written bytes.</summary>
    public readonly int PendingBytes => _output.Pending;

    /// <summary>Passes the written bytes to the buffer writer. The writer can be used further.</summary>
    public void Flush() => _output.Flush();

    /// <summary>Returns space that the caller writes to directly. <see cref="Advance"/> then adds the written bytes to the output.</summary>
    /// <param name="bytes">The minimum size. Until Advance, the value of <see cref="PendingBytes"/> stays valid for <see cref="Rewind"/>.</param>
    public Span<byte> Reserve(int bytes) => _output.Reserve(bytes);

    /// <summary>Adds bytes to the output that the caller wrote into the span of <see cref="Reserve"/>.</summary>
    /// <param name="bytes">The number of bytes, at most the reserved size.</param>
    public void Advance(int bytes) => _output.Advance(bytes);

    /// <summary>Discards the bytes that were written since <see cref="PendingBytes"/> was read.</summary>
    /// <param name="pendingBytes">The earlier value. No flush, and no write beyond the reserved size, may have happened since.</param>
    public void Rewind(int pendingBytes) => _output.Rewind(pendingBytes);

    /// <summary>Writes bytes without a conversion.</summary>
    /// <param name="bytes">The bytes.</param>
    public void WriteRaw(scoped ReadOnlySpan<byte> bytes) => _output.Write(bytes);

    /// <summary>Writes a number without a line end.</summary>
    /// <param name="value">The number.</param>
    public void WriteDigits(long value)
    {
        Span<byte> digits = stackalloc byte[DecimalText.MaxInt64Bytes];
        _output.Write(digits[..DecimalText.Format(value, digits)]);
    }

    /// <summary>Writes a line.</summary>
    /// <param name="text">The text without the line end.</param>
    public void WriteLine(scoped ReadOnlySpan<byte> text)
    {
        _output.Write(text);
        _output.WriteLineEnd();
    }

    /// <summary>Writes <c>STORED</c>.</summary>
    public void WriteStored() => _output.Write("STORED\r\n"u8);

    /// <summary>Writes <c>NOT_STORED</c>.</summary>
    public void WriteNotStored() => _output.Write("NOT_STORED\r\n"u8);

    /// <summary>Writes <c>EXISTS</c>.</summary>
    public void WriteExists() => _output.Write("EXISTS\r\n"u8);

    /// <summary>Writes <c>NOT_FOUND</c>.</summary>
    public void WriteNotFound() => _output.Write("NOT_FOUND\r\n"u8);

    /// <summary>Writes <c>DELETED</c>.</summary>
    public void WriteDeleted() => _output.Write("DELETED\r\n"u8);

    /// <summary>Writes <c>TOUCHED</c>.</summary>
    public void WriteTouched() => _output.Write("TOUCHED\r\n"u8);

    /// <summary>Writes <c>OK</c>.</summary>
    public void WriteOk() => _output.Write("OK\r\n"u8);

    /// <summary>Writes <c>END</c>.</summary>
    public void WriteEnd() => _output.Write("END\r\n"u8);

    /// <summary>Writes <c>RESET</c>.</summary>
    public void WriteReset() => _output.Write("RESET\r\n"u8);

    /// <summary>Writes <c>VERSION TEXT</c>.</summary>
    /// <param name="version">The version, one word.</param>
    public void WriteVersion(scoped ReadOnlySpan<byte> version)
    {
        _output.Write("VERSION "u8);
        WriteLine(version);
    }

    /// <summary>Writes the new number after <c>incr</c> or <c>decr</c>.</summary>
    /// <param name="value">The number.</param>
    public void WriteNumber(ulong value)
    {
        _output.WriteUInt64(value);
        _output.WriteLineEnd();
    }

    /// <summary>Writes the line of an error. Writes nothing for an error that only closes the connection.</summary>
    /// <param name="error">The error.</param>
    public void WriteError(MemcachedError error) => _output.Write(MemcachedErrorText.Of(error));

    /// <summary>Writes <c>CLIENT_ERROR TEXT</c>.</summary>
    /// <param name="text">The text, one line without its end.</param>
    public void WriteClientError(scoped ReadOnlySpan<byte> text)
    {
        _output.Write("CLIENT_ERROR "u8);
        WriteLine(text);
    }

    /// <summary>Writes <c>SERVER_ERROR TEXT</c>.</summary>
    /// <param name="text">The text, one line without its end.</param>
    public void WriteServerError(scoped ReadOnlySpan<byte> text)
    {
        _output.Write("SERVER_ERROR "u8);
        WriteLine(text);
    }

    /// <summary>Writes <c>STAT NAME VALUE</c>.</summary>
    /// <param name="name">The name, one word.</param>
    /// <param name="value">The value, which takes the rest of the line.</param>
    public void WriteStat(scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> value)
    {
        WriteStatName(name);
        WriteLine(value);
    }

    /// <summary>Writes <c>STAT NAME VALUE</c> with a number.</summary>
    /// <param name="name">The name, one word.</param>
    /// <param name="value">The number.</param>
    public void WriteStat(scoped ReadOnlySpan<byte> name, long value)
    {
        WriteStatName(name);
        _output.WriteInt64(value);
        _output.WriteLineEnd();
    }

    /// <summary>Writes <c>VALUE KEY FLAGS BYTES</c>, the value and its line end.</summary>
    /// <param name="key">The key as the client wrote it.</param>
    /// <param name="clientFlags">The client flags of the entry.</param>
    /// <param name="value">The value.</param>
    public void WriteValue(scoped ReadOnlySpan<byte> key, uint clientFlags, scoped ReadOnlySpan<byte> value)
    {
        WriteValueLine(key, clientFlags, value.Length);
        WriteData(value);
    }

    /// <summary>Writes <c>VALUE KEY FLAGS BYTES VERSION</c>, the value and its line end.</summary>
    /// <param name="key">The key as the client wrote it.</param>
    /// <param name="clientFlags">The client flags of the entry.</param>
    /// <param name="value">The value.</param>
    /// <param name="version">The version of the entry.</param>
    public void WriteValue(scoped ReadOnlySpan<byte> key, uint clientFlags, scoped ReadOnlySpan<byte> value, ulong version)
    {
        WriteValueLine(key, clientFlags, value.Length, version);
        WriteData(value);
    }

    /// <summary>Writes the line <c>VALUE KEY FLAGS BYTES</c>. The caller then writes the value and a line end.</summary>
    /// <param name="key">The key as the client wrote it.</param>
    /// <param name="clientFlags">The client flags of the entry.</param>
    /// <param name="valueBytes">The length of the value.</param>
    public void WriteValueLine(scoped ReadOnlySpan<byte> key, uint clientFlags, int valueBytes)
    {
        var line = _output.Reserve(MaxValueLineBytes + key.Length);
        int length = FormatValueLine(line, key, clientFlags, valueBytes);
        length += EndLine(line[length..]);
        _output.Advance(length);
    }

    /// <summary>Writes the line <c>VALUE KEY FLAGS BYTES VERSION</c>. The caller then writes the value and a line end.</summary>
    /// <param name="key">The key as the client wrote it.</param>
    /// <param name="clientFlags">The client flags of the entry.</param>
    /// <param name="valueBytes">The length of the value.</param>
    /// <param name="version">The version of the entry.</param>
    public void WriteValueLine(scoped ReadOnlySpan<byte> key, uint clientFlags, int valueBytes, ulong version)
    {
        var line = _output.Reserve(MaxValueLineBytes + key.Length);
        int length = FormatValueLine(line, key, clientFlags, valueBytes);
        line[length++] = (byte)' ';
        length += DecimalText.Format(version, line[length..]);
        length += EndLine(line[length..]);
        _output.Advance(length);
    }

    /// <summary>Writes a data block: the value and its line end.</summary>
    /// <param name="value">The value.</param>
    public void WriteData(scoped ReadOnlySpan<byte> value)
    {
        _output.Write(value);
        _output.WriteLineEnd();
    }

    /// <summary>Writes a line end, after a data block that was written directly or after flags.</summary>
    public void WriteLineEnd() => _output.WriteLineEnd();

    /// <summary>Writes the code of a meta command's reply. The caller then writes flags and calls <see cref="WriteLineEnd"/>.</summary>
    /// <param name="code">The code, such as <c>HD</c>.</param>
    public void BeginMeta(MemcachedMetaCode code) => _output.Write(MemcachedMetaCodeText.Of(code));

    /// <summary>Writes <c>VA BYTES</c>. The caller then writes flags, calls <see cref="WriteLineEnd"/> and writes the data block.</summary>
    /// <param name="valueBytes">The length of the value.</param>
    public void BeginMetaValue(int valueBytes)
    {
        _output.Write("VA "u8);
        _output.WriteUInt64((uint)valueBytes);
    }

    /// <summary>Writes a meta command's whole reply without flags.</summary>
    /// <param name="code">The code, such as <c>HD</c>.</param>
    public void WriteMeta(MemcachedMetaCode code)
    {
        _output.Write(MemcachedMetaCodeText.Of(code));
        _output.WriteLineEnd();
    }

    /// <summary>Writes a flag without a token, such as <c>W</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    public void WriteFlag(char letter)
    {
        var flag = _output.Reserve(2);
        flag[1] = (byte)letter;
        flag[0] = (byte)' ';
        _output.Advance(2);
    }

    /// <summary>Writes a flag with a signed number, such as <c>t-1</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, long value)
    {
        WriteFlag(letter);
        _output.WriteInt64(value);
    }

    /// <summary>Writes a flag with an unsigned number, such as <c>c77</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, ulong value)
    {
        WriteFlag(letter);
        _output.WriteUInt64(value);
    }

    /// <summary>Writes a flag with a token, such as <c>O123</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="token">The token without the letter, without spaces or line ends.</param>
    public void WriteFlag(char letter, scoped ReadOnlySpan<byte> token)
    {
        WriteFlag(letter);
        _output.Write(token);
    }

    /// <summary>Writes the key as <c>kKEY</c>, or in base64 as <c>kKEY b</c>.</summary>
    /// <param name="key">The decoded key.</param>
    /// <param name="isBase64">True if the client wrote the key in base64.</param>
    public void WriteKeyFlag(scoped ReadOnlySpan<byte> key, bool isBase64)
    {
        WriteFlag('k');
        if (!isBase64)
        {
            _output.Write(key);
            return;
        }

        int length = Base64.GetMaxEncodedToUtf8Length(key.Length);
        Base64.EncodeToUtf8(key, _output.Reserve(length), out _, out int written);
        _output.Advance(written);
        _output.Write(" b"u8);
    }

    private void WriteStatName(scoped ReadOnlySpan<byte> name)
    {
        _output.Write("STAT "u8);
        _output.Write(name);
        _output.WriteByte((byte)' ');
    }

    private static int FormatValueLine(Span<byte> line, scoped ReadOnlySpan<byte> key, uint clientFlags, int valueBytes)
    {
        "VALUE "u8.CopyTo(line);
        key.CopyTo(line[6..]);
        int length = 6 + key.Length;
        line[length++] = (byte)' ';
        length += DecimalText.Format(clientFlags, line[length..]);
        line[length++] = (byte)' ';
        return length + DecimalText.Format((uint)valueBytes, line[length..]);
    }

    private static int EndLine(Span<byte> line)
    {
        line[1] = (byte)'\n';
        line[0] = (byte)'\r';
        return 2;
    }
}
