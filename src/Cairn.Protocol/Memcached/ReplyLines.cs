namespace Cairn.Protocol.Memcached;

// Reads the first line of a reply. Returns false if the line begins like a known kind but is not valid.
internal static class ReplyLines
{
    public static bool TryRead(ReadOnlySpan<byte> line, ref MemcachedReply reply)
    {
        int nameLength = line.IndexOf((byte)' ');
        bool isAlone = nameLength < 0;
        var name = isAlone ? line : line[..nameLength];
        if (name.Length == 2 && TryReadMeta(line, name, ref reply, out bool isValid))
        {
            return isValid;
        }

        // Numbers may be padded with spaces.
        if (name.Length > 0 && (uint)(name[0] - '0') <= 9)
        {
            bool isNumber = DecimalText.TryParseUInt64(line.TrimEnd((byte)' '), out ulong number);
            reply.Number = number;
            reply.Kind = isNumber ? MemcachedReplyKind.Number : MemcachedReplyKind.Text;
            reply.Text = new ByteRange(0, line.Length);
            return true;
        }

        reply.Kind = KindOf(name, isAlone);
        switch (reply.Kind)
        {
            case MemcachedReplyKind.Value:
                return TryReadValue(line, ref reply);

            case MemcachedReplyKind.Stat:
                SplitWord(line, nameLength + 1, ref reply);
                return true;

            case MemcachedReplyKind.Text:
                reply.Text = new ByteRange(0, line.Length);
                return true;

            default:
                int start = isAlone ? line.Length : nameLength + 1;
                reply.Text = new ByteRange(start, line.Length - start);
                return true;
        }
    }

    private static MemcachedReplyKind KindOf(ReadOnlySpan<byte> name, bool isAlone) => isAlone switch
    {
        true when name.SequenceEqual("END"u8) => MemcachedReplyKind.End,
        true when name.SequenceEqual("STORED"u8) => MemcachedReplyKind.Stored,
        true when name.SequenceEqual("NOT_STORED"u8) => MemcachedReplyKind.NotStored,
        true when name.SequenceEqual("EXISTS"u8) => MemcachedReplyKind.Exists,
        true when name.SequenceEqual("NOT_FOUND"u8) => MemcachedReplyKind.NotFound,
        true when name.SequenceEqual("DELETED"u8) => MemcachedReplyKind.Deleted,
        true when name.SequenceEqual("TOUCHED"u8) => MemcachedReplyKind.Touched,
        true when name.SequenceEqual("OK"u8) => MemcachedReplyKind.Ok,
        true when name.SequenceEqual("RESET"u8) => MemcachedReplyKind.Reset,
        false when name.SequenceEqual("VALUE"u8) => MemcachedReplyKind.Value,
        false when name.SequenceEqual("STAT"u8) => MemcachedReplyKind.Stat,
        false when name.SequenceEqual("VERSION"u8) => MemcachedReplyKind.Version,
        _ when name.SequenceEqual("ERROR"u8) => MemcachedReplyKind.Error,
        _ when name.SequenceEqual("CLIENT_ERROR"u8) => MemcachedReplyKind.ClientError,
        _ when name.SequenceEqual("SERVER_ERROR"u8) => MemcachedReplyKind.ServerError,
        _ => MemcachedReplyKind.Text,
    };

    // Splits the text into a name and, after one space, the rest of the line.
    private static void SplitWord(ReadOnlySpan<byte> line, int start, ref MemcachedReply reply)
    {
        int length = line[start..].IndexOf((byte)' ');
        if (length < 0)
        {
            reply.Key = new ByteRange(start, line.Length - start);
            return;
        }

        reply.Key = new ByteRange(start, length);
        int rest = start + length + 1;
        reply.Text = new ByteRange(rest, line.Length - rest);
    }

    // VALUE KEY FLAGS BYTES [VERSION]
    private static bool TryReadValue(ReadOnlySpan<byte> line, ref MemcachedReply reply)
    {
        var tokens = new LineTokens(line);
        if (tokens.Count is not (4 or 5) ||
            !DecimalText.TryParseUInt64(tokens[2], out ulong flags) || flags > uint.MaxValue ||
            !DecimalText.TryParseUInt64(tokens[3], out ulong valueBytes) || valueBytes > WordRequests.MaxValueBytes)
        {
            return false;
        }

        if (tokens.Count == 5)
        {
            if (!DecimalText.TryParseUInt64(tokens[4], out ulong version))
            {
                return false;
            }

            reply.Version = version;
        }

        reply.Key = tokens.RangeOf(1);
        reply.ClientFlags = (uint)flags;
        reply.HasValue = true;
        reply.Value = new ByteRange(reply.LineBytes, (int)valueBytes);
        return true;
    }

    // Returns true if the name is the code of a meta command.
    private static bool TryReadMeta(ReadOnlySpan<byte> line, ReadOnlySpan<byte> name, ref MemcachedReply reply, out bool isValid)
    {
        isValid = true;
        if (name.SequenceEqual("ME"u8))
        {
            reply.Kind = MemcachedReplyKind.MetaDebug;
            SplitWord(line, Math.Min(3, line.Length), ref reply);
            return true;
        }

        var code = (name[0], name[1]) switch
        {
            ((byte)'H', (byte)'D') => MemcachedMetaCode.Done,
            ((byte)'V', (byte)'A') => MemcachedMetaCode.Value,
            ((byte)'E', (byte)'N') => MemcachedMetaCode.Miss,
            ((byte)'N', (byte)'S') => MemcachedMetaCode.NotStored,
            ((byte)'E', (byte)'X') => MemcachedMetaCode.Exists,
            ((byte)'N', (byte)'F') => MemcachedMetaCode.NotFound,
            ((byte)'M', (byte)'N') => MemcachedMetaCode.Noop,
            _ => (MemcachedMetaCode?)null,
        };
        if (code is null)
        {
            return false;
        }

        reply.Kind = MemcachedReplyKind.Meta;
        reply.MetaCode = code.Value;
        int start = Math.Min(3, line.Length);
        if (code == MemcachedMetaCode.Value)
        {
            var size = new MemcachedTokens(line[start..]);
            if (!size.MoveNext() || !DecimalText.TryParseUInt64(size.Current, out ulong valueBytes) ||
                valueBytes > WordRequests.MaxValueBytes)
            {
                isValid = false;
                return true;
            }

            reply.HasValue = true;
            reply.Value = new ByteRange(reply.LineBytes, (int)valueBytes);
            start = line.Length - size.Rest.Length;
        }

        reply.Flags = new ByteRange(start, line.Length - start);
        return true;
    }
}
