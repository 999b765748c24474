using System.Buffers;
using System.Buffers.Text;
using Cairn.Protocol.Memcached;
using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>Writes the replies of memcached's text protocol, for a server.</summary>
/// <remarks>
/// Over a buffer writer, what was written is the buffer writer's after <see cref="Flush"/> and not before; nothing else may
/// use it in between. Over a span, a reply that does not fit is an <see cref="InvalidOperationException"/>.
/// </remarks>
public ref struct MemcachedReplyWriter
{
    /// <summary>Longest <c>VALUE</c> or <c>VA</c> line before its flags, the end included, for a key of this many bytes: add it.</summary>
    public const int MaxValueLineBytes = 64;

    private OutputWindow _output;

    /// <summary>Writes into a span.</summary>
    /// <param name="destination">Long enough for all that will be written, and <see cref="MaxValueLineBytes"/> more.</param>
    public MemcachedReplyWriter(Span<byte> destination) => _output = new OutputWindow(destination);

    /// <summary>Writes to a buffer writer.</summary>
    /// <param name="output">Taken for the writer's alone until <see cref="Flush"/>.</param>
    public MemcachedReplyWriter(IBufferWriter<byte> output) => _output = new OutputWindow(output);

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

    /// <summary>Writes a line.</summary>
    /// <param name="text">Without the line's end.</param>
    public void WriteLine(scoped ReadOnlySpan<byte> text)
    {
        _output.Write(text);
        _output.WriteLineEnd();
    }

    /// <summary><c>STORED</c></summary>
    public void WriteStored() => _output.Write("STORED\r\n"u8);

    /// <summary><c>NOT_STORED</c></summary>
    public void WriteNotStored() => _output.Write("NOT_STORED\r\n"u8);

    /// <summary><c>EXISTS</c></summary>
    public void WriteExists() => _output.Write("EXISTS\r\n"u8);

    /// <summary><c>NOT_FOUND</c></summary>
    public void WriteNotFound() => _output.Write("NOT_FOUND\r\n"u8);

    /// <summary><c>DELETED</c></summary>
    public void WriteDeleted() => _output.Write("DELETED\r\n"u8);

    /// <summary><c>TOUCHED</c></summary>
    public void WriteTouched() => _output.Write("TOUCHED\r\n"u8);

    /// <summary><c>OK</c></summary>
    public void WriteOk() => _output.Write("OK\r\n"u8);

    /// <summary><c>END</c></summary>
    public void WriteEnd() => _output.Write("END\r\n"u8);

    /// <summary><c>RESET</c></summary>
    public void WriteReset() => _output.Write("RESET\r\n"u8);

    /// <summary><c>VERSION TEXT</c></summary>
    /// <param name="version">One word.</param>
    public void WriteVersion(scoped ReadOnlySpan<byte> version)
    {
        _output.Write("VERSION "u8);
        WriteLine(version);
    }

    /// <summary>The new number after <c>incr</c> or <c>decr</c>.</summary>
    /// <param name="value">The number.</param>
    public void WriteNumber(ulong value)
    {
        _output.WriteUInt64(value);
        _output.WriteLineEnd();
    }

    /// <summary>The error's line; nothing for an error that only closes the connection.</summary>
    /// <param name="error">The error.</param>
    public void WriteError(MemcachedError error) => _output.Write(MemcachedErrorText.Of(error));

    /// <summary><c>CLIENT_ERROR TEXT</c></summary>
    /// <param name="text">One line without its end.</param>
    public void WriteClientError(scoped ReadOnlySpan<byte> text)
    {
        _output.Write("CLIENT_ERROR "u8);
        WriteLine(text);
    }

    /// <summary><c>SERVER_ERROR TEXT</c></summary>
    /// <param name="text">One line without its end.</param>
    public void WriteServerError(scoped ReadOnlySpan<byte> text)
    {
        _output.Write("SERVER_ERROR "u8);
        WriteLine(text);
    }

    /// <summary><c>STAT NAME VALUE</c></summary>
    /// <param name="name">One word.</param>
    /// <param name="value">Up to the end of the line.</param>
    public void WriteStat(scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> value)
    {
        WriteStatName(name);
        WriteLine(value);
    }

    /// <summary><c>STAT NAME VALUE</c></summary>
    /// <param name="name">One word.</param>
    /// <param name="value">A number.</param>
    public void WriteStat(scoped ReadOnlySpan<byte> name, long value)
    {
        WriteStatName(name);
        _output.WriteInt64(value);
        _output.WriteLineEnd();
    }

    /// <summary><c>VALUE KEY FLAGS BYTES</c>, the value and its end.</summary>
    /// <param name="key">As the client wrote it.</param>
    /// <param name="clientFlags">Of the entry.</param>
    /// <param name="value">Any bytes.</param>
    public void WriteValue(scoped ReadOnlySpan<byte> key, uint clientFlags, scoped ReadOnlySpan<byte> value)
    {
        WriteValueLine(key, clientFlags, value.Length);
        WriteData(value);
    }

    /// <summary><c>VALUE KEY FLAGS BYTES VERSION</c>, the value and its end.</summary>
    /// <param name="key">As the client wrote it.</param>
    /// <param name="clientFlags">Of the entry.</param>
    /// <param name="value">Any bytes.</param>
    /// <param name="version">Of the entry.</param>
    public void WriteValue(scoped ReadOnlySpan<byte> key, uint clientFlags, scoped ReadOnlySpan<byte> value, ulong version)
    {
        WriteValueLine(key, clientFlags, value.Length, version);
        WriteData(value);
    }

    /// <summary>The line <c>VALUE KEY FLAGS BYTES</c>. The value and a line end have to follow.</summary>
    /// <param name="key">As the client wrote it.</param>
    /// <param name="clientFlags">Of the entry.</param>
    /// <param name="valueBytes">Length of the value.</param>
    public void WriteValueLine(scoped ReadOnlySpan<byte> key, uint clientFlags, int valueBytes)
    {
        var line = _output.Reserve(MaxValueLineBytes + key.Length);
        int length = FormatValueLine(line, key, clientFlags, valueBytes);
        length += EndLine(line[length..]);
        _output.Advance(length);
    }

    /// <summary>The line <c>VALUE KEY FLAGS BYTES VERSION</c>. The value and a line end have to follow.</summary>
    /// <param name="key">As the client wrote it.</param>
    /// <param name="clientFlags">Of the entry.</param>
    /// <param name="valueBytes">Length of the value.</param>
    /// <param name="version">Of the entry.</param>
    public void WriteValueLine(scoped ReadOnlySpan<byte> key, uint clientFlags, int valueBytes, ulong version)
    {
        var line = _output.Reserve(MaxValueLineBytes + key.Length);
        int length = FormatValueLine(line, key, clientFlags, valueBytes);
        line[length++] = (byte)' ';
        length += DecimalText.Format(version, line[length..]);
        length += EndLine(line[length..]);
        _output.Advance(length);
    }

    /// <summary>A data block: the value and its line end.</summary>
    /// <param name="value">Any bytes.</param>
    public void WriteData(scoped ReadOnlySpan<byte> value)
    {
        _output.Write(value);
        _output.WriteLineEnd();
    }

    /// <summary>A line end, after a data block that was written in place, or to end a line of flags.</summary>
    public void WriteLineEnd() => _output.WriteLineEnd();

    /// <summary>Begins the reply of a meta command: its code. Flags and <see cref="WriteLineEnd"/> have to follow.</summary>
    /// <param name="code">Such as <c>HD</c>.</param>
    public void BeginMeta(MemcachedMetaCode code) => _output.Write(MemcachedMetaCodeText.Of(code));

    /// <summary>Begins a reply <c>VA BYTES</c>. Flags, <see cref="WriteLineEnd"/> and the data block have to follow.</summary>
    /// <param name="valueBytes">Length of the value.</param>
    public void BeginMetaValue(int valueBytes)
    {
        _output.Write("VA "u8);
        _output.WriteUInt64((uint)valueBytes);
    }

    /// <summary>A meta command's whole reply without flags.</summary>
    /// <param name="code">Such as <c>HD</c>.</param>
    public void WriteMeta(MemcachedMetaCode code)
    {
        _output.Write(MemcachedMetaCodeText.Of(code));
        _output.WriteLineEnd();
    }

    /// <summary>A flag without a token, such as <c>W</c>.</summary>
    /// <param name="letter">Its letter.</param>
    public void WriteFlag(char letter)
    {
        var flag = _output.Reserve(2);
        flag[1] = (byte)letter;
        flag[0] = (byte)' ';
        _output.Advance(2);
    }

    /// <summary>A flag with a number, such as <c>t-1</c>.</summary>
    /// <param name="letter">Its letter.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, long value)
    {
        WriteFlag(letter);
        _output.WriteInt64(value);
    }

    /// <summary>A flag with a number, such as <c>c77</c>.</summary>
    /// <param name="letter">Its letter.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, ulong value)
    {
        WriteFlag(letter);
        _output.WriteUInt64(value);
    }

    /// <summary>A flag with a token, such as <c>O123</c>.</summary>
    /// <param name="letter">Its letter.</param>
    /// <param name="token">Without the letter; no spaces or line ends.</param>
    public void WriteFlag(char letter, scoped ReadOnlySpan<byte> token)
    {
        WriteFlag(letter);
        _output.Write(token);
    }

    /// <summary>The key as <c>kKEY</c>, or in base64 as <c>kKEY b</c>.</summary>
    /// <param name="key">The key itself, not its base64.</param>
    /// <param name="isBase64">The client wrote it in base64.</param>
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
