using System.Buffers.Text;
using Cairn.Protocol.Memcached;
using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>Writes the requests of memcached's text protocol for a client.</summary>
/// <remarks>
/// With a buffer writer, the written bytes reach it only with <see cref="Flush"/>, and no other code may use it until then. With a span,
/// output that does not fit throws an <see cref="InvalidOperationException"/>.
/// <para>
/// A key of 1 to 250 bytes without spaces and control characters is written unchanged. Any other key throws an
/// <see cref="ArgumentException"/> before a byte of the key is written. Meta commands can write any key of up to 186 bytes in base64.
/// </para>
/// </remarks>
internal ref struct MemcachedRequestWriter
{
    private OutputWindow _output;

    /// <summary>Creates a writer over a span.</summary>
    /// <param name="destination">A span with room for the whole output and 32 bytes more.</param>
    public MemcachedRequestWriter(Span<byte> destination) => _output = new OutputWindow(destination);

    /// <summary>Creates a writer over a buffer writer.</summary>
    /// <param name="output">The buffer writer, used exclusively until <see cref="Flush"/>.</param>
    public MemcachedRequestWriter(IBufferWriter<byte> output) => _output = new OutputWindow(output);

    /// <summary>Gets the number of bytes that are written and not flushed; for a span, the number of all written bytes.</summary>
    public readonly int PendingBytes => _output.Pending;

    /// <summary>Returns whether a key can be written unchanged: 1 to 250 bytes, no spaces, no control characters.</summary>
    /// <param name="key">The key.</param>
    public static bool IsPlainKey(ReadOnlySpan<byte> key) =>
        (uint)(key.Length - 1) < MemcachedReader.MaxKeyBytes &&
        !key.ContainsAnyInRange((byte)0, (byte)' ') && !key.Contains((byte)0x7F);

    /// <summary>Passes the written bytes to the buffer writer. The writer can be used further.</summary>
    public void Flush() => _output.Flush();

    /// <summary>Writes <c>get KEY</c>.</summary>
    /// <param name="key">The key.</param>
    public void WriteGet(scoped ReadOnlySpan<byte> key)
    {
        CheckKey(key);
        _output.Write("get "u8);
        _output.Write(key);
        _output.WriteLineEnd();
    }

    /// <summary>Ends a line that was begun.</summary>
    public void WriteLineEnd() => _output.WriteLineEnd();

    /// <summary>Writes <c>set</c>, <c>add</c>, <c>replace</c>, <c>append</c> or <c>prepend</c>, with its value.</summary>
    /// <param name="command">One of these commands.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="clientFlags">The client flags, stored with the value.</param>
    /// <param name="expirationSeconds">The expiration: 0 for never, up to 30 days for an offset from now, more for a Unix time.</param>
    /// <param name="isNoReply">True if the server must not reply.</param>
    /// <exception cref="ArgumentOutOfRangeException">The command is not one of these.</exception>
    public void WriteStore(
        MemcachedCommand command,
        scoped ReadOnlySpan<byte> key,
        scoped ReadOnlySpan<byte> value,
        uint clientFlags = 0,
        long expirationSeconds = 0,
        bool isNoReply = false)
    {
        WriteStoreLine(command, key, value.Length, clientFlags, expirationSeconds, isNoReply);
        WriteData(value);
    }

    /// <summary>Writes the line of a storage command. The caller then writes the value, with <see cref="WriteData"/> or in parts.</summary>
    /// <param name="command">One of the commands of <see cref="WriteStore"/>.</param>
    /// <param name="key">The key.</param>
    /// <param name="valueBytes">The length of the value.</param>
    /// <param name="clientFlags">The client flags, stored with the value.</param>
    /// <param name="expirationSeconds">The expiration, in the form of <see cref="WriteStore"/>.</param>
    /// <param name="isNoReply">True if the server must not reply.</param>
    /// <exception cref="ArgumentOutOfRangeException">The command is not one of these, or the length is negative.</exception>
    public void WriteStoreLine(
        MemcachedCommand command,
        scoped ReadOnlySpan<byte> key,
        int valueBytes,
        uint clientFlags = 0,
        long expirationSeconds = 0,
        bool isNoReply = false)
    {
        CheckKey(key);
        ArgumentOutOfRangeException.ThrowIfNegative(valueBytes);
        WriteStoreStart(StoreName(command), key, clientFlags, expirationSeconds, valueBytes);
        EndLine(isNoReply);
    }

    /// <summary>Writes a data block: the value and its line end.</summary>
    /// <param name="value">The value.</param>
    public void WriteData(scoped ReadOnlySpan<byte> value)
    {
        _output.Write(value);
        _output.WriteLineEnd();
    }

    /// <summary>Writes <c>delete KEY</c>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="isNoReply">True if the server must not reply.</param>
    public void WriteDelete(scoped ReadOnlySpan<byte> key, bool isNoReply = false)
    {
        CheckKey(key);
        _output.Write("delete "u8);
        _output.Write(key);
        EndLine(isNoReply);
    }

    /// <summary>Writes <c>touch KEY EXPTIME</c>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="expirationSeconds">The expiration, in the form of <see cref="WriteStore"/>.</param>
    /// <param name="isNoReply">True if the server must not reply.</param>
    public void WriteTouch(scoped ReadOnlySpan<byte> key, long expirationSeconds, bool isNoReply = false)
    {
        CheckKey(key);
        _output.Write("touch "u8);
        _output.Write(key);
        _output.WriteByte((byte)' ');
        _output.WriteInt64(expirationSeconds);
        EndLine(isNoReply);
    }

    /// <summary>Writes <c>flush_all DELAY</c>.</summary>
    /// <param name="delaySeconds">The delay; 0 for an immediate flush.</param>
    /// <param name="isNoReply">True if the server must not reply.</param>
    public void WriteFlushAll(long delaySeconds = 0, bool isNoReply = false)
    {
        _output.Write("flush_all "u8);
        _output.WriteInt64(delaySeconds);
        EndLine(isNoReply);
    }

    /// <summary>Writes any other line, such as <c>version</c> or <c>stats items</c>.</summary>
    /// <param name="text">The text without the line end. It must not contain line ends.</param>
    /// <exception cref="ArgumentException">The text contains a line end.</exception>
    public void WriteLine(scoped ReadOnlySpan<byte> text)
    {
        if (text.Contains((byte)'\n'))
        {
            ThrowLineEnd();
        }

        _output.Write(text);
        _output.WriteLineEnd();
    }

    /// <summary>Writes <c>mn</c>.</summary>
    public void WriteMetaNoop() => _output.Write("mn\r\n"u8);

    /// <summary>Begins <c>mg</c>, <c>md</c>, <c>ma</c> or <c>me</c>. The caller then writes flags and calls <see cref="WriteLineEnd"/>.</summary>
    /// <param name="command">One of these commands.</param>
    /// <param name="key">The key, not encoded.</param>
    /// <param name="isBase64">True to write the key in base64, with the flag <c>b</c>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The command is not one of these.</exception>
    public void BeginMeta(MemcachedCommand command, scoped ReadOnlySpan<byte> key, bool isBase64 = false)
    {
        var name = command switch
        {
            MemcachedCommand.MetaGet => "mg "u8,
            MemcachedCommand.MetaDelete => "md "u8,
            MemcachedCommand.MetaArithmetic => "ma "u8,
            MemcachedCommand.MetaDebug => "me "u8,
            _ => throw new ArgumentOutOfRangeException(nameof(command), command, "Not a meta command without a value."),
        };
        WriteMetaKey(name, key, isBase64);
        if (isBase64)
        {
            WriteFlag('b');
        }
    }

    /// <summary>
    /// Begins <c>ms</c>. The caller then writes flags, calls <see cref="WriteLineEnd"/>, and writes the value with <see cref="WriteData"/>.
    /// </summary>
    /// <param name="key">The key, not encoded.</param>
    /// <param name="valueBytes">The length of the value.</param>
    /// <param name="isBase64">True to write the key in base64, with the flag <c>b</c>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    public void BeginMetaSet(scoped ReadOnlySpan<byte> key, int valueBytes, bool isBase64 = false)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(valueBytes);
        WriteMetaKey("ms "u8, key, isBase64);
        _output.WriteByte((byte)' ');
        _output.WriteUInt64((uint)valueBytes);
        if (isBase64)
        {
            WriteFlag('b');
        }
    }

    /// <summary>Writes a flag without a token, such as <c>v</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    public void WriteFlag(char letter)
    {
        var flag = _output.Reserve(2);
        flag[1] = (byte)letter;
        flag[0] = (byte)' ';
        _output.Advance(2);
    }

    /// <summary>Writes a flag with a signed number, such as <c>T60</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, long value)
    {
        WriteFlag(letter);
        _output.WriteInt64(value);
    }

    /// <summary>Writes a flag with an unsigned number, such as <c>C77</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="value">The number.</param>
    public void WriteFlag(char letter, ulong value)
    {
        WriteFlag(letter);
        _output.WriteUInt64(value);
    }

    /// <summary>Writes a flag with a token, such as <c>O123</c>.</summary>
    /// <param name="letter">The letter of the flag.</param>
    /// <param name="token">The token without the letter, without spaces or control characters.</param>
    /// <exception cref="ArgumentException">The token contains a space or a control character.</exception>
    public void WriteFlag(char letter, scoped ReadOnlySpan<byte> token)
    {
        if (token.ContainsAnyInRange((byte)0, (byte)' '))
        {
            ThrowBadToken();
        }

        WriteFlag(letter);
        _output.Write(token);
    }

    private static ReadOnlySpan<byte> StoreName(MemcachedCommand command) => command switch
    {
        MemcachedCommand.Set => "set "u8,
        MemcachedCommand.Add => "add "u8,
        MemcachedCommand.Replace => "replace "u8,
        MemcachedCommand.Append => "append "u8,
        MemcachedCommand.Prepend => "prepend "u8,
        _ => throw new ArgumentOutOfRangeException(nameof(command), command, "Not a storage command without a version."),
    };

    private void WriteStoreStart(
        scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> key, uint clientFlags, long expirationSeconds, int valueBytes)
    {
        _output.Write(name);
        _output.Write(key);
        _output.WriteByte((byte)' ');
        _output.WriteUInt64(clientFlags);
        _output.WriteByte((byte)' ');
        _output.WriteInt64(expirationSeconds);
        _output.WriteByte((byte)' ');
        _output.WriteUInt64((uint)valueBytes);
    }

    private void EndLine(bool isNoReply) => _output.Write(isNoReply ? " noreply\r\n"u8 : "\r\n"u8);

    private void WriteMetaKey(scoped ReadOnlySpan<byte> name, scoped ReadOnlySpan<byte> key, bool isBase64)
    {
        if (!isBase64)
        {
            CheckKey(key);
            _output.Write(name);
            _output.Write(key);
            return;
        }

        int length = Base64.GetMaxEncodedToUtf8Length(key.Length);
        if (key.IsEmpty || length > MemcachedReader.MaxKeyBytes)
        {
            ThrowBadKey();
        }

        _output.Write(name);
        Base64.EncodeToUtf8(key, _output.Reserve(length), out _, out int written);
        _output.Advance(written);
    }

    private static void CheckKey(scoped ReadOnlySpan<byte> key)
    {
        if (!IsPlainKey(key))
        {
            ThrowBadKey();
        }
    }

    [DoesNotReturn]
    private static void ThrowBadKey() => throw new ArgumentException(
        "A key has 1 to 250 bytes, none of them a space or a control character; in base64 its text has at most 250.", "key");

    [DoesNotReturn]
    private static void ThrowBadToken() => throw new ArgumentException("A token holds no spaces or control characters.", "token");

    [DoesNotReturn]
    private static void ThrowLineEnd() => throw new ArgumentException("A line holds no line end.", "text");
}
