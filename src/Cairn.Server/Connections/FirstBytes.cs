namespace Cairn.Server.Connections;

/// <summary>The protocol that the first bytes of a request belong to.</summary>
internal enum RequestForm
{
    Unknown = 0,
    Memcached,
    MemcachedBinary,
    Resp,
    Http,
    Tls,
}

/// <summary>Recognises protocols by the first bytes of a connection, and formats bytes for a log.</summary>
internal static class FirstBytes
{
    private const int LongestQuote = 48;
    private const int BytesOfTls = 5;
    private const byte TlsHandshake = 0x16;
    private const byte TlsMajorVersion = 3;
    private const byte MemcachedBinaryRequest = 0x80;

    // The lines of the array, of the command's length, and of the command. The next line may be a password.
    private const int LinesOfRespCommand = 3;

    /// <summary>Returns whether the first byte is that of a TLS handshake.</summary>
    public static bool BeginsTls(ReadOnlySpan<byte> bytes) => bytes[0] == TlsHandshake;

    public static RequestForm Recognise(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 2)
        {
            return RequestForm.Unknown;
        }

        return bytes[0] switch
        {
            TlsHandshake when bytes[1] == TlsMajorVersion => RequestForm.Tls,
            MemcachedBinaryRequest => RequestForm.MemcachedBinary,
            (byte)'*' when bytes[1] is >= (byte)'0' and <= (byte)'9' => RequestForm.Resp,
            >= (byte)'A' and <= (byte)'Z' when FirstLine(bytes).IndexOf(" HTTP/"u8) > 0 => RequestForm.Http,
            >= (byte)'a' and <= (byte)'z' when IsMemcachedAlone(FirstLine(bytes)) => RequestForm.Memcached,
            _ => RequestForm.Unknown,
        };
    }

    /// <summary>Returns the beginning of a request as text. Leaves out arguments that could be passwords. Bytes that are not printable
    /// become \xHH.</summary>
    public static string Quote(ReadOnlySpan<byte> bytes, RequestForm form)
    {
        ReadOnlySpan<byte> shown = form switch
        {
            RequestForm.Tls or RequestForm.MemcachedBinary => bytes[..Math.Min(bytes.Length, BytesOfTls)],
            RequestForm.Resp => Lines(bytes, LinesOfRespCommand),
            RequestForm.Http => BeforeQuery(FirstLine(bytes)),
            _ => FirstWord(FirstLine(bytes)),
        };
        bool isCut = shown.Length < bytes.Length;
        if (shown.Length > LongestQuote)
        {
            shown = shown[..LongestQuote];
        }

        var text = new StringBuilder(shown.Length + 4);
        foreach (byte value in shown)
        {
            _ = value switch
            {
                (byte)'\r' => text.Append("\\r"),
                (byte)'\n' => text.Append("\\n"),
                (byte)'\\' => text.Append("\\\\"),
                (byte)'"' => text.Append("\\\""),
                >= (byte)' ' and < 0x7F => text.Append((char)value),
                _ => text.Append("\\x").Append(value.ToString("X2", System.Globalization.CultureInfo.InvariantCulture)),
            };
        }

        return isCut ? $"\"{text}\"..." : $"\"{text}\"";
    }

    // Commands of memcached that do not exist as inline commands of RESP, or that have fewer words there.
    private static bool IsMemcachedAlone(ReadOnlySpan<byte> line)
    {
        ReadOnlySpan<byte> word = FirstWord(line);
        int spaces = line.Count((byte)' ');
        return word.SequenceEqual("version"u8) || word.SequenceEqual("stats"u8) || word.SequenceEqual("gets"u8) || word.SequenceEqual("verbosity"u8)
            || word.SequenceEqual("mg"u8) || word.SequenceEqual("ms"u8) || word.SequenceEqual("md"u8) || word.SequenceEqual("mn"u8)
            || (spaces >= 4 && (word.SequenceEqual("set"u8) || word.SequenceEqual("add"u8) || word.SequenceEqual("replace"u8)
                || word.SequenceEqual("append"u8) || word.SequenceEqual("prepend"u8) || word.SequenceEqual("cas"u8)));
    }

    private static ReadOnlySpan<byte> FirstLine(ReadOnlySpan<byte> bytes)
    {
        int end = bytes.IndexOfAny((byte)'\r', (byte)'\n');
        return end < 0 ? bytes : bytes[..end];
    }

    private static ReadOnlySpan<byte> FirstWord(ReadOnlySpan<byte> line)
    {
        int end = line.IndexOf((byte)' ');
        return end < 0 ? line : line[..end];
    }

    private static ReadOnlySpan<byte> BeforeQuery(ReadOnlySpan<byte> line)
    {
        int end = line.IndexOf((byte)'?');
        return end < 0 ? line : line[..end];
    }

    private static ReadOnlySpan<byte> Lines(ReadOnlySpan<byte> bytes, int count)
    {
        int length = 0;
        while (count-- > 0 && bytes[length..].IndexOf((byte)'\n') is >= 0 and var end)
        {
            length += end + 1;
        }

        return bytes[..length];
    }
}
