// memcached's binary protocol: a header of 24 bytes, extras, key, value. All numbers are big-endian.
//
//   0 magic | 1 opcode | 2-3 key length | 4 extras length | 5 data type | 6-7 status | 8-11 length of all that follows | 12-15 opaque
//   16-23 version
namespace Cairn.Protocol;

/// <summary>Reads requests and writes replies of memcached's binary protocol.</summary>
internal static class MemcachedBinary
{
    /// <summary>The length of a header.</summary>
    public const int HeaderBytes = 24;

    /// <summary>The first byte of each request. No request of the text protocol begins with it.</summary>
    public const byte RequestMagic = 0x80;

    /// <summary>The first byte of each reply.</summary>
    public const byte ReplyMagic = 0x81;

    /// <summary>The length of the client flags, which precede key and value in replies.</summary>
    public const int FlagsBytes = 4;

    private const int MaxExtrasBytes = 20;

    private static readonly Form[] s_forms = CreateForms();

    /// <summary>Reads the request at the start of the input.</summary>
    /// <param name="input">The input.</param>
    /// <param name="request">The request.</param>
    /// <param name="consumed">The length of a complete request, or the bytes to consume of a malformed one.</param>
    /// <returns>
    /// <see cref="ParseStatus.Malformed"/> if the caller replies with an error and continues, <see cref="ParseStatus.Fatal"/> if it then
    /// closes the connection.
    /// </returns>
    public static ParseStatus TryRead(ReadOnlySpan<byte> input, out MemcachedBinaryRequest request, out int consumed)
    {
        request = default;
        consumed = 0;
        if (input.IsEmpty || input[0] != RequestMagic)
        {
            return input.IsEmpty ? ParseStatus.Incomplete : ParseStatus.Fatal;
        }

        if (input.Length < HeaderBytes)
        {
            return ParseStatus.Incomplete;
        }

        int keyBytes = BinaryPrimitives.ReadUInt16BigEndian(input[2..]);
        int extrasBytes = input[4];
        uint bodyBytes = BinaryPrimitives.ReadUInt32BigEndian(input[8..]);
        ref readonly Form form = ref s_forms[input[1]];
        request.Opcode = input[1];
        request.Command = form.Command;
        request.IsQuiet = form.IsQuiet;
        request.ReturnsKey = form.ReturnsKey;
        request.Opaque = BinaryPrimitives.ReadUInt32BigEndian(input[12..]);
        request.Version = BinaryPrimitives.ReadUInt64BigEndian(input[16..]);
        if (keyBytes + extrasBytes > bodyBytes)
        {
            request.Error = MemcachedStatus.UnknownCommand;
            return ParseStatus.Fatal;
        }

        if (keyBytes > MemcachedReader.MaxKeyBytes)
        {
            request.Error = MemcachedStatus.InvalidArguments;
            return ParseStatus.Fatal;
        }

        if (form.Command == MemcachedCommand.None)
        {
            request.Error = MemcachedStatus.UnknownCommand;
            request.SkipBytes = bodyBytes;
            consumed = HeaderBytes;
            return ParseStatus.Malformed;
        }

        long valueBytes = bodyBytes - keyBytes - extrasBytes;
        if (!form.Accepts(keyBytes, extrasBytes, valueBytes))
        {
            request.Error = MemcachedStatus.InvalidArguments;
            return ParseStatus.Fatal;
        }

        int headBytes = HeaderBytes + extrasBytes + keyBytes;
        request.HeadBytes = headBytes;
        request.Key = new ByteRange(HeaderBytes + extrasBytes, keyBytes);
        if (input.Length < headBytes)
        {
            return ParseStatus.Incomplete;
        }

        ReadExtras(input.Slice(HeaderBytes, extrasBytes), form.Extras, ref request);
        if (form.Body == BodyRule.Loose)
        {
            valueBytes = 0; // As in memcached, what follows the key is the next request.
        }

        request.Value = new ByteRange(headBytes, (int)Math.Min(valueBytes, int.MaxValue - headBytes));
        if (input.Length < headBytes + valueBytes)
        {
            request.SkipBytes = valueBytes;
            return ParseStatus.IncompleteValue;
        }

        consumed = headBytes + (int)valueBytes;
        return ParseStatus.Complete;
    }

    /// <summary>Writes the header of a reply.</summary>
    /// <param name="destination">The buffer, at least <see cref="HeaderBytes"/> bytes.</param>
    /// <param name="request">The request.</param>
    /// <param name="status">The status.</param>
    /// <param name="body">The lengths of extras and key, and of all that follows the header.</param>
    /// <param name="version">The entry's version; 0 for none.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WriteHeader(
        Span<byte> destination, in MemcachedBinaryRequest request, MemcachedStatus status, MemcachedBody body, ulong version)
    {
        _ = destination[HeaderBytes - 1];
        destination[0] = ReplyMagic;
        destination[1] = request.Opcode;
        BinaryPrimitives.WriteUInt16BigEndian(destination[2..], (ushort)body.KeyBytes);
        destination[4] = (byte)body.ExtrasBytes;
        destination[5] = 0;
        BinaryPrimitives.WriteUInt16BigEndian(destination[6..], (ushort)status);
        BinaryPrimitives.WriteInt32BigEndian(destination[8..], body.TotalBytes);
        BinaryPrimitives.WriteUInt32BigEndian(destination[12..], request.Opaque);
        BinaryPrimitives.WriteUInt64BigEndian(destination[16..], version);
    }

    /// <summary>Returns the text of an error, which is the body of its reply.</summary>
    public static ReadOnlySpan<byte> TextOf(MemcachedStatus status) => status switch
    {
        MemcachedStatus.NotFound => "Not found"u8,
        MemcachedStatus.Exists => "Data exists for key."u8,
        MemcachedStatus.TooLarge => "Too large."u8,
        MemcachedStatus.InvalidArguments => "Invalid arguments"u8,
        MemcachedStatus.NotStored => "Not stored."u8,
        MemcachedStatus.NotANumber => "Non-numeric server-side value for incr or decr"u8,
        MemcachedStatus.AuthenticationError => "Auth failure."u8,
        MemcachedStatus.UnknownCommand => "Unknown command"u8,
        MemcachedStatus.OutOfMemory => "Out of memory"u8,
        _ => [],
    };

    private static void ReadExtras(ReadOnlySpan<byte> extras, ExtrasRule rule, ref MemcachedBinaryRequest request)
    {
        switch (rule)
        {
            case ExtrasRule.FlagsAndExpiration:
                request.ClientFlags = BinaryPrimitives.ReadUInt32BigEndian(extras);
                request.ExpirationSeconds = BinaryPrimitives.ReadUInt32BigEndian(extras[4..]);
                break;

            case ExtrasRule.Arithmetic:
                request.Delta = BinaryPrimitives.ReadUInt64BigEndian(extras);
                request.InitialValue = BinaryPrimitives.ReadUInt64BigEndian(extras[8..]);
                request.ExpirationSeconds = BinaryPrimitives.ReadUInt32BigEndian(extras[16..]);
                break;

            case ExtrasRule.Expiration or ExtrasRule.PossiblyExpiration when !extras.IsEmpty:
                request.ExpirationSeconds = BinaryPrimitives.ReadUInt32BigEndian(extras);
                break;

            case ExtrasRule.Level:
                request.Delta = BinaryPrimitives.ReadUInt32BigEndian(extras);
                break;

            default:
                break;
        }
    }

    private static Form[] CreateForms()
    {
        var forms = new Form[byte.MaxValue + 1];
        forms[0x00] = new Form(MemcachedCommand.Get, BodyRule.Key);
        forms[0x09] = forms[0x00] with { IsQuiet = true };
        forms[0x0c] = forms[0x00] with { ReturnsKey = true };
        forms[0x0d] = forms[0x0c] with { IsQuiet = true };
        forms[0x01] = new Form(MemcachedCommand.Set, BodyRule.KeyAndValue, ExtrasRule.FlagsAndExpiration);
        forms[0x02] = forms[0x01] with { Command = MemcachedCommand.Add };
        forms[0x03] = forms[0x01] with { Command = MemcachedCommand.Replace };
        forms[0x04] = new Form(MemcachedCommand.Delete, BodyRule.Key);
        forms[0x05] = new Form(MemcachedCommand.Incr, BodyRule.Key, ExtrasRule.Arithmetic);
        forms[0x06] = forms[0x05] with { Command = MemcachedCommand.Decr };
        forms[0x07] = new Form(MemcachedCommand.Quit, BodyRule.Empty);
        forms[0x08] = new Form(MemcachedCommand.FlushAll, BodyRule.Empty, ExtrasRule.PossiblyExpiration);
        forms[0x0a] = new Form(MemcachedCommand.Noop, BodyRule.Empty);
        forms[0x0b] = new Form(MemcachedCommand.Version, BodyRule.Empty);
        forms[0x0e] = new Form(MemcachedCommand.Append, BodyRule.KeyAndValue);
        forms[0x0f] = forms[0x0e] with { Command = MemcachedCommand.Prepend };
        forms[0x10] = new Form(MemcachedCommand.Stats, BodyRule.Loose) { MayLackKey = true };
        for (int i = 0; i < 3; i++)
        {
            forms[0x11 + i] = forms[0x01 + i] with { IsQuiet = true };
        }

        for (int i = 0; i < 5; i++)
        {
            forms[0x14 + i] = forms[0x04 + i] with { IsQuiet = true };
        }

        forms[0x19] = forms[0x0e] with { IsQuiet = true };
        forms[0x1a] = forms[0x0f] with { IsQuiet = true };
        forms[0x1b] = new Form(MemcachedCommand.Verbosity, BodyRule.Empty, ExtrasRule.Level);
        forms[0x1c] = new Form(MemcachedCommand.Touch, BodyRule.Loose, ExtrasRule.Expiration);
        forms[0x1d] = forms[0x1c] with { Command = MemcachedCommand.Gat };
        forms[0x1e] = forms[0x1d] with { IsQuiet = true };
        forms[0x23] = forms[0x1d] with { ReturnsKey = true };
        forms[0x24] = forms[0x23] with { IsQuiet = true };
        forms[0x20] = new Form(MemcachedCommand.SaslList, BodyRule.Empty);
        forms[0x21] = new Form(MemcachedCommand.SaslAuth, BodyRule.KeyAndValue);
        forms[0x22] = forms[0x21] with { Command = MemcachedCommand.SaslStep };
        return forms;
    }

    private enum ExtrasRule : byte
    {
        None,
        Expiration,
        PossiblyExpiration,
        Level,
        FlagsAndExpiration,
        Arithmetic,
    }

    private enum BodyRule : byte
    {
        /// <summary>Extras only.</summary>
        Empty,

        /// <summary>A key and nothing behind it.</summary>
        Key,
        KeyAndValue,

        /// <summary>A key. The bytes behind it belong to the next request.</summary>
        Loose,
    }

    private readonly record struct Form(MemcachedCommand Command, BodyRule Body, ExtrasRule Extras = ExtrasRule.None)
    {
        public bool IsQuiet { get; init; }

        public bool ReturnsKey { get; init; }

        public bool MayLackKey { get; init; }

        public bool Accepts(int keyBytes, int extrasBytes, long valueBytes)
        {
            int expected = Extras switch
            {
                ExtrasRule.None => 0,
                ExtrasRule.FlagsAndExpiration => 8,
                ExtrasRule.Arithmetic => MaxExtrasBytes,
                ExtrasRule.PossiblyExpiration when extrasBytes == 0 => 0,
                _ => 4,
            };
            return extrasBytes == expected
                && (Body == BodyRule.Empty ? keyBytes == 0 : keyBytes != 0 || MayLackKey)
                && (Body >= BodyRule.KeyAndValue || valueBytes == 0);
        }
    }
}

/// <summary>The lengths of the parts of a reply.</summary>
/// <param name="ExtrasBytes">The length of the extras.</param>
/// <param name="KeyBytes">The length of the key.</param>
/// <param name="TotalBytes">The length of extras, key and value.</param>
internal readonly record struct MemcachedBody(int ExtrasBytes, int KeyBytes, int TotalBytes);
