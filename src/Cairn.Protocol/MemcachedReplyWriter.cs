using System.Buffers.Text;
using Cairn.Protocol.Memcached;
using Cairn.Protocol.Text;

namespace Cairn.Protocol;

/// <summary>Writes the replies of memcached's text protocol for a server.</summary>
/// <remarks>
/// A reply that does not fit into the span throws an <see cref="InvalidOperationException"/>.
/// </remarks>
internal ref struct MemcachedReplyWriter
{
    /// <summary>
    /// The longest <c>VA</c> line before its flags, with its end, in bytes. The length of the key has to be added.
    /// </summary>
    public const int MaxValueLineBytes = 64;

    private OutputWindow _output;

    /// <summary>Creates a writer over a span.</summary>
    /// <param name="destination">A span with room for the whole output and <see cref="MaxValueLineBytes"/> more.</param>
    public MemcachedReplyWriter(Span<byte> destination) => _output = new OutputWindow(destination);

    /// <summary>Gets the number of written bytes.</summary>
    public readonly int PendingBytes => _output.Pending;

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
}
