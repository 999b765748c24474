using System.Buffers.Text;

namespace Cairn.Protocol.Memcached;

// Splits any command line into words and checks them in memcached's order, so that a line with two errors reports the same one. Rules that
// look arbitrary are memcached's.
internal static class WordRequests
{
    public const int MaxValueBytes = int.MaxValue - 2;

    public const byte BinaryMagic = 0x80;

    private const int MaxMetaTokens = 19; // The command, the key and 17 flags. In ms, the length takes the place of one flag.
    private const int MaxOpaqueBytes = 32; // Including the letter.

    public static ParseStatus Read(ReadOnlySpan<byte> input, ReadOnlySpan<byte> line, ref MemcachedRequest request)
    {
        if (input[0] == BinaryMagic)
        {
            request.Error = MemcachedError.BinaryProtocol;
            return ParseStatus.Fatal;
        }

        // memcached ends such a line at the zero byte and executes the part before it.
        if (line.Contains((byte)0))
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        var tokens = new LineTokens(line);
        if (tokens.Count == 0 || tokens[0].Length < 2)
        {
            return Malformed(ref request, MemcachedError.UnknownCommand);
        }

        request.Command = CommandOf(tokens[0]);
        if (request.Command != MemcachedCommand.None)
        {
            request.Arguments = tokens.RangeFrom(1);
            request.ArgumentCount = tokens.Count - 1;
        }

        switch (request.Command)
        {
            case MemcachedCommand.Get or MemcachedCommand.Gets:
                return tokens.Count < 2 ? Unknown(ref request) : ReadKeys(line, tokens.RangeOf(1).Offset, ref request);

            case MemcachedCommand.Gat or MemcachedCommand.Gats:
                return ReadGetAndTouch(line, tokens, ref request);

            case >= MemcachedCommand.Set and <= MemcachedCommand.Prepend:
                return tokens.Count is 5 or 6 ? ReadStorage(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Cas:
                return tokens.Count is 6 or 7 ? ReadStorage(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Delete:
                return tokens.Count is >= 2 and <= 4 ? ReadDelete(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Incr or MemcachedCommand.Decr:
                return tokens.Count is 3 or 4 ? ReadArithmetic(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Touch:
                return tokens.Count is 3 or 4 ? ReadTouch(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.MetaGet:
                return ReadMeta(tokens, MemcachedError.TooManyGetFlags, ref request);

            case MemcachedCommand.MetaSet:
                return ReadMetaSet(tokens, ref request);

            case MemcachedCommand.MetaDelete or MemcachedCommand.MetaArithmetic:
                return ReadMeta(tokens, MemcachedError.TooManyFlags, ref request);

            case MemcachedCommand.MetaDebug:
                return ReadMetaDebug(tokens, ref request);

            case MemcachedCommand.FlushAll:
                return tokens.Count <= 3 ? ReadFlushAll(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Verbosity or MemcachedCommand.CacheMemlimit:
                return tokens.Count is 2 or 3 ? ReadSetting(tokens, ref request) : Unknown(ref request);

            case MemcachedCommand.Lru when tokens.Count < 2:
                return Unknown(ref request);

            case MemcachedCommand.Lru or MemcachedCommand.Watch or MemcachedCommand.RefreshCerts:
                request.IsNoReply = IsNoReply(tokens);
                return ParseStatus.Complete;

            case MemcachedCommand.Slabs:
                request.IsNoReply = tokens.Count > 2 && tokens[1].SequenceEqual("automove"u8) && IsNoReply(tokens);
                return ParseStatus.Complete;

            case MemcachedCommand.None:
                return ReadUnknown(tokens, ref request);

            default:
                return ParseStatus.Complete; // Nothing to check: mn, stats, version, quit, shutdown, lru_crawler.
        }
    }

    public static bool IsGetFamily(ReadOnlySpan<byte> name) =>
        CommandOf(name) is >= MemcachedCommand.Get and <= MemcachedCommand.Gats;

    private static MemcachedCommand CommandOf(ReadOnlySpan<byte> name)
    {
        if (name.Length == 2 && name[0] == 'm')
        {
            return name[1] switch
            {
                (byte)'g' => MemcachedCommand.MetaGet,
                (byte)'s' => MemcachedCommand.MetaSet,
                (byte)'d' => MemcachedCommand.MetaDelete,
                (byte)'a' => MemcachedCommand.MetaArithmetic,
                (byte)'e' => MemcachedCommand.MetaDebug,
                (byte)'n' => MemcachedCommand.MetaNoop,
                _ => MemcachedCommand.None,
            };
        }

        return name switch
        {
            _ when name.SequenceEqual("get"u8) => MemcachedCommand.Get,
            _ when name.SequenceEqual("bget"u8) => MemcachedCommand.Get, // An old name that memcached still accepts.
            _ when name.SequenceEqual("set"u8) => MemcachedCommand.Set,
            _ when name.SequenceEqual("gets"u8) => MemcachedCommand.Gets,
            _ when name.SequenceEqual("gat"u8) => MemcachedCommand.Gat,
            _ when name.SequenceEqual("gats"u8) => MemcachedCommand.Gats,
            _ when name.SequenceEqual("add"u8) => MemcachedCommand.Add,
            _ when name.SequenceEqual("cas"u8) => MemcachedCommand.Cas,
            _ when name.SequenceEqual("incr"u8) => MemcachedCommand.Incr,
            _ when name.SequenceEqual("decr"u8) => MemcachedCommand.Decr,
            _ when name.SequenceEqual("touch"u8) => MemcachedCommand.Touch,
            _ when name.SequenceEqual("delete"u8) => MemcachedCommand.Delete,
            _ when name.SequenceEqual("append"u8) => MemcachedCommand.Append,
            _ when name.SequenceEqual("replace"u8) => MemcachedCommand.Replace,
            _ when name.SequenceEqual("prepend"u8) => MemcachedCommand.Prepend,
            _ when name.SequenceEqual("flush_all"u8) => MemcachedCommand.FlushAll,
            _ when name.SequenceEqual("version"u8) => MemcachedCommand.Version,
            _ when name.SequenceEqual("verbosity"u8) => MemcachedCommand.Verbosity,
            _ when name.SequenceEqual("stats"u8) => MemcachedCommand.Stats,
            _ when name.SequenceEqual("cache_memlimit"u8) => MemcachedCommand.CacheMemlimit,
            _ when name.SequenceEqual("lru_crawler"u8) => MemcachedCommand.LruCrawler,
            _ when name.SequenceEqual("lru"u8) => MemcachedCommand.Lru,
            _ when name.SequenceEqual("slabs"u8) => MemcachedCommand.Slabs,
            _ when name.SequenceEqual("watch"u8) => MemcachedCommand.Watch,
            _ when name.SequenceEqual("refresh_certs"u8) => MemcachedCommand.RefreshCerts,
            _ when name.SequenceEqual("shutdown"u8) => MemcachedCommand.Shutdown,
            _ when name.SequenceEqual("quit"u8) => MemcachedCommand.Quit,
            _ => MemcachedCommand.None,
        };
    }

    private static ParseStatus Malformed(ref MemcachedRequest request, MemcachedError error)
    {
        request.Error = error;
        return ParseStatus.Malformed;
    }

    private static ParseStatus Unknown(ref MemcachedRequest request) => Malformed(ref request, MemcachedError.UnknownCommand);

    // A browser sends HTTP, possibly for a page that an attacker made to send a request to this server.
    private static ParseStatus ReadUnknown(in LineTokens tokens, ref MemcachedRequest request)
    {
        if (!tokens.Last.StartsWith("HTTP/"u8))
        {
            return Unknown(ref request);
        }

        request.Error = MemcachedError.HttpRequest;
        return ParseStatus.Fatal;
    }

    private static bool IsNoReply(in LineTokens tokens) => tokens.Last.SequenceEqual("noreply"u8);

    // Reads the keys of the get family: any number of words up to the end of the line.
    public static ParseStatus ReadKeys(ReadOnlySpan<byte> line, int start, ref MemcachedRequest request)
    {
        int count = 0;
        int end = start;
        int position = start;
        while (position < line.Length)
        {
            if (line[position] == ' ')
            {
                position++;
                continue;
            }

            int length = line[position..].IndexOf((byte)' ');
            length = length < 0 ? line.Length - position : length;
            if (length > MemcachedReader.MaxKeyBytes)
            {
                return Malformed(ref request, MemcachedError.BadCommandLineFormat);
            }

            if (count++ == 0)
            {
                request.Key = new ByteRange(position, length);
            }

            position += length;
            end = position;
        }

        request.Arguments = new ByteRange(start, end - start);
        request.ArgumentCount = count;
        return ParseStatus.Complete;
    }

    // gat EXPTIME KEY*. Without a key, it is a get without keys.
    private static ParseStatus ReadGetAndTouch(ReadOnlySpan<byte> line, in LineTokens tokens, ref MemcachedRequest request)
    {
        if (tokens.Count < 2)
        {
            return Unknown(ref request);
        }

        if (!MemcachedNumber.TryParseTime(tokens[1], out long expiration))
        {
            return Malformed(ref request, MemcachedError.InvalidExpiration);
        }

        request.ExpirationSeconds = expiration;
        return ReadKeys(line, tokens.Count > 2 ? tokens.RangeOf(2).Offset : line.Length, ref request);
    }

    private static ParseStatus ReadStorage(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.IsNoReply = IsNoReply(tokens);
        request.Arguments = default;
        request.ArgumentCount = 0;

        ulong version = 0;
        if (!TryReadKey(tokens, ref request) ||
            !MemcachedNumber.TryParseUInt32(tokens[2], out uint flags) ||
            !MemcachedNumber.TryParseTime(tokens[3], out long expiration) ||
            !MemcachedNumber.TryParseInt64(tokens[4], out long valueBytes) ||
            (request.Command == MemcachedCommand.Cas && !MemcachedNumber.TryParseUInt64(tokens[5], out version)) ||
            valueBytes is < 0 or > MaxValueBytes)
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        request.ClientFlags = flags;
        request.ExpirationSeconds = expiration;
        request.Version = version;
        request.Value = new ByteRange(request.LineBytes, (int)valueBytes);
        return ParseStatus.Complete;
    }

    private static bool TryReadKey(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.Key = tokens.RangeOf(1);
        return request.Key.Length <= MemcachedReader.MaxKeyBytes;
    }

    // delete KEY [0] [noreply]. The 0 was the time during which the key could not be added again.
    private static ParseStatus ReadDelete(in LineTokens tokens, ref MemcachedRequest request)
    {
        if (tokens.Count > 2)
        {
            bool isHeldZero = tokens[2].SequenceEqual("0"u8);
            request.IsNoReply = IsNoReply(tokens);
            bool isValid = tokens.Count == 3 ? isHeldZero || request.IsNoReply : isHeldZero && request.IsNoReply;
            if (!isValid)
            {
                return Malformed(ref request, MemcachedError.BadDeleteFormat);
            }
        }

        return TryReadKey(tokens, ref request) ? ParseStatus.Complete : Malformed(ref request, MemcachedError.BadCommandLineFormat);
    }

    private static ParseStatus ReadArithmetic(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.IsNoReply = IsNoReply(tokens);
        if (!TryReadKey(tokens, ref request))
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        if (!MemcachedNumber.TryParseUInt64(tokens[2], out ulong delta))
        {
            return Malformed(ref request, MemcachedError.InvalidDelta);
        }

        request.Delta = delta;
        return ParseStatus.Complete;
    }

    private static ParseStatus ReadTouch(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.IsNoReply = IsNoReply(tokens);
        if (!TryReadKey(tokens, ref request))
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        if (!MemcachedNumber.TryParseTime(tokens[2], out long expiration))
        {
            return Malformed(ref request, MemcachedError.InvalidExpiration);
        }

        request.ExpirationSeconds = expiration;
        return ParseStatus.Complete;
    }

    private static ParseStatus ReadFlushAll(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.IsNoReply = IsNoReply(tokens);
        if (tokens.Count == (request.IsNoReply ? 2 : 1))
        {
            return ParseStatus.Complete;
        }

        if (!MemcachedNumber.TryParseInt64(tokens[1], out long delay))
        {
            return Malformed(ref request, MemcachedError.InvalidExpiration);
        }

        request.ExpirationSeconds = delay;
        return ParseStatus.Complete;
    }

    private static ParseStatus ReadSetting(in LineTokens tokens, ref MemcachedRequest request)
    {
        request.IsNoReply = IsNoReply(tokens);
        if (MemcachedNumber.TryParseUInt32(tokens[1], out uint number))
        {
            request.Delta = number;
            return ParseStatus.Complete;
        }

        return request.Command == MemcachedCommand.CacheMemlimit
            ? Unknown(ref request)
            : Malformed(ref request, MemcachedError.BadCommandLineFormat);
    }

    // me KEY [b]
    private static ParseStatus ReadMetaDebug(in LineTokens tokens, ref MemcachedRequest request)
    {
        if (tokens.Count < 2 || !TryReadKey(tokens, ref request))
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        request.Arguments = tokens.RangeFrom(2);
        request.ArgumentCount = tokens.Count - 2;
        if (tokens.Count > 2 && tokens[2].SequenceEqual("b"u8))
        {
            request.MetaFlags = MemcachedMetaFlags.Base64Key;
            if (!IsBase64(tokens[1]))
            {
                return Malformed(ref request, MemcachedError.BadCommandLineFormat);
            }
        }

        return ParseStatus.Complete;
    }

    // mg, md, ma KEY FLAG*
    private static ParseStatus ReadMeta(in LineTokens tokens, MemcachedError tooMany, ref MemcachedRequest request)
    {
        if (tokens.Count < 2)
        {
            return Unknown(ref request);
        }

        if (!TryReadKey(tokens, ref request))
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        request.Arguments = tokens.RangeFrom(2);
        request.ArgumentCount = tokens.Count - 2;
        if (tokens.Count > MaxMetaTokens)
        {
            return Malformed(ref request, tooMany);
        }

        var error = ReadFlags(tokens, 2, ref request);
        if (error != MemcachedError.None)
        {
            // mg reports the kind of error; the other two commands do not.
            return Malformed(
                ref request,
                request.Command == MemcachedCommand.MetaGet ? error : MemcachedError.InvalidOrDuplicateFlag);
        }

        if (request.Command == MemcachedCommand.MetaArithmetic && !TryNormaliseArithmeticMode(ref request))
        {
            return Malformed(ref request, MemcachedError.InvalidArithmeticMode);
        }

        return request.Opaque.Length < MaxOpaqueBytes ? ParseStatus.Complete : Malformed(ref request, MemcachedError.OpaqueTooLong);
    }

    // ms KEY BYTES FLAG*
    private static ParseStatus ReadMetaSet(in LineTokens tokens, ref MemcachedRequest request)
    {
        if (tokens.Count < 2)
        {
            return Unknown(ref request);
        }

        if (!TryReadKey(tokens, ref request) || tokens.Count == 2)
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        request.Arguments = tokens.RangeFrom(3);
        request.ArgumentCount = tokens.Count - 3;
        if (tokens.Count > MaxMetaTokens)
        {
            return Malformed(ref request, MemcachedError.TooManyFlags);
        }

        if (!MemcachedNumber.TryParseInt64(tokens[2], out long valueBytes) || valueBytes is < 0 or > MaxValueBytes)
        {
            return Malformed(ref request, MemcachedError.BadCommandLineFormat);
        }

        // From here on, the length of the data block is known. After an error, its bytes are skipped and not read as requests.
        var error = ReadFlags(tokens, 3, ref request);
        if (error == MemcachedError.None)
        {
            error = request switch
            {
                { Mode: not (0 or (byte)'E' or (byte)'A' or (byte)'P' or (byte)'R' or (byte)'S') } => MemcachedError.InvalidSetMode,
                { Opaque.Length: >= MaxOpaqueBytes } => MemcachedError.OpaqueTooLong,
                _ => MemcachedError.None,
            };
        }

        if (error != MemcachedError.None)
        {
            request.SkipBytes = (int)valueBytes + 2;
            return Malformed(ref request, error);
        }

        request.Value = new ByteRange(request.LineBytes, (int)valueBytes);
        return ParseStatus.Complete;
    }

    // A repeated or unknown flag ends the check. Of other errors the last one is reported, except that an error of F does not replace an
    // earlier one.
    private static MemcachedError ReadFlags(in LineTokens tokens, int first, ref MemcachedRequest request)
    {
        request.Delta = 1;
        var error = MemcachedError.None;
        for (int i = first; i < tokens.Count; i++)
        {
            var token = tokens[i];
            if (token[0] >= 127)
            {
                return MemcachedError.DuplicateFlag;
            }

            int bit = token[0] - 'A';
            if ((uint)bit > 'z' - 'A' || !IsFlag((MemcachedMetaFlags)(1UL << bit)))
            {
                return MemcachedError.InvalidFlag;
            }

            var flag = (MemcachedMetaFlags)(1UL << bit);
            if (request.Has(flag))
            {
                return MemcachedError.DuplicateFlag;
            }

            request.MetaFlags |= flag;
            var tokenError = ReadFlag(flag, token[1..], tokens.RangeOf(i), tokens, ref request);
            if (tokenError != MemcachedError.None && (flag != MemcachedMetaFlags.ClientFlags || error == MemcachedError.None))
            {
                error = tokenError;
            }
        }

        return error;
    }

    private static bool IsFlag(MemcachedMetaFlags flag)
    {
        const MemcachedMetaFlags all =
            MemcachedMetaFlags.Base64Key | MemcachedMetaFlags.ReturnVersion | MemcachedMetaFlags.ReturnClientFlags |
            MemcachedMetaFlags.ReturnHit | MemcachedMetaFlags.ReturnKey | MemcachedMetaFlags.ReturnLastAccess |
            MemcachedMetaFlags.Quiet | MemcachedMetaFlags.ReturnSize | MemcachedMetaFlags.ReturnTimeToLive |
            MemcachedMetaFlags.NoUpdate | MemcachedMetaFlags.ReturnValue | MemcachedMetaFlags.CompareVersion |
            MemcachedMetaFlags.Delta | MemcachedMetaFlags.ClientFlags | MemcachedMetaFlags.Invalidate |
            MemcachedMetaFlags.InitialValue | MemcachedMetaFlags.ProxyPathL | MemcachedMetaFlags.Mode |
            MemcachedMetaFlags.Vivify | MemcachedMetaFlags.Opaque | MemcachedMetaFlags.ProxyPathP |
            MemcachedMetaFlags.Recache | MemcachedMetaFlags.TimeToLive |
            MemcachedMetaFlags.RemoveValue | MemcachedMetaFlags.NewVersion;

        return (flag & all) != 0;
    }

    private static MemcachedError ReadFlag(
        MemcachedMetaFlags flag, ReadOnlySpan<byte> argument, ByteRange range, in LineTokens tokens, ref MemcachedRequest request)
    {
        long seconds;
        switch (flag)
        {
            case MemcachedMetaFlags.Base64Key:
                return IsBase64(tokens[1]) ? MemcachedError.None : MemcachedError.BadBase64Key;

            case MemcachedMetaFlags.TimeToLive:
                bool isTime = MemcachedNumber.TryParseTime(argument, out seconds);
                request.ExpirationSeconds = seconds;
                return isTime ? MemcachedError.None : MemcachedError.BadToken;

            case MemcachedMetaFlags.Vivify:
                bool isVivifyTime = MemcachedNumber.TryParseTime(argument, out seconds);
                request.VivifySeconds = seconds;
                return isVivifyTime ? MemcachedError.None : MemcachedError.BadToken;

            case MemcachedMetaFlags.Recache:
                bool isRecacheTime = MemcachedNumber.TryParseInt64(argument, out seconds);
                request.RecacheSeconds = seconds;
                return isRecacheTime ? MemcachedError.None : MemcachedError.BadToken;

            case MemcachedMetaFlags.ClientFlags:
                bool isFlags = MemcachedNumber.TryParseUInt32(argument, out uint clientFlags);
                request.ClientFlags = clientFlags;
                return isFlags ? MemcachedError.None : MemcachedError.BadCommandLineFormat;

            case MemcachedMetaFlags.CompareVersion:
                bool isVersion = MemcachedNumber.TryParseUInt64(argument, out ulong version);
                request.Version = version;
                return isVersion ? MemcachedError.None : MemcachedError.BadToken;

            case MemcachedMetaFlags.NewVersion:
                bool isChosen = MemcachedNumber.TryParseUInt64(argument, out ulong chosen);
                request.ChosenVersion = chosen;
                return isChosen ? MemcachedError.None : MemcachedError.BadToken;

            case MemcachedMetaFlags.InitialValue:
                bool isInitial = MemcachedNumber.TryParseUInt64(argument, out ulong initial);
                request.InitialValue = initial;
                return isInitial ? MemcachedError.None : MemcachedError.InvalidInitialValue;

            case MemcachedMetaFlags.Delta:
                bool isDelta = MemcachedNumber.TryParseUInt64(argument, out ulong delta);
                request.Delta = delta;
                return isDelta ? MemcachedError.None : MemcachedError.InvalidDeltaValue;

            case MemcachedMetaFlags.Mode:
                request.Mode = argument.Length == 1 ? argument[0] : (byte)0;
                return argument.Length == 1 ? MemcachedError.None : MemcachedError.BadModeLength;

            case MemcachedMetaFlags.Opaque:
                request.Opaque = new ByteRange(range.Offset + 1, range.Length - 1);
                return MemcachedError.None;

            default:
                return MemcachedError.None;
        }
    }

    // Accepts only the canonical text of a key. memcached skips bytes that are not base64, so there a key has many texts.
    private static bool IsBase64(ReadOnlySpan<byte> text) =>
        !text.ContainsAnyInRange((byte)0, (byte)' ') && Base64.IsValid(text, out int decodedLength) && decodedLength > 0;

    private static bool TryNormaliseArithmeticMode(ref MemcachedRequest request)
    {
        switch (request.Mode)
        {
            case 0:
            case (byte)'I' or (byte)'+':
                request.Mode = (byte)'I';
                return true;

            case (byte)'D' or (byte)'-':
                request.Mode = (byte)'D';
                return true;

            default:
                return false;
        }
    }
}
