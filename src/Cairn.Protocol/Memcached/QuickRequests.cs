namespace Cairn.Protocol.Memcached;

// Reads the requests of nearly all traffic in the form that clients write: words separated by one space, and numbers of plain digits. It
// declines other forms and all errors.
internal static class QuickRequests
{
    private const uint Get = 'g' | ('e' << 8) | ('t' << 16) | ((uint)' ' << 24);
    private const uint Set = 's' | ('e' << 8) | ('t' << 16) | ((uint)' ' << 24);
    private const uint Gets = 'g' | ('e' << 8) | ('t' << 16) | ((uint)'s' << 24);
    private const uint MetaMask = 0xFF_FFFF;
    private const uint MetaGet = 'm' | ('g' << 8) | (' ' << 16);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryRead(ReadOnlySpan<byte> line, ref MemcachedRequest request)
    {
        if (line.Length < 5)
        {
            return false;
        }

        uint name = BinaryPrimitives.ReadUInt32LittleEndian(line);
        return name switch
        {
            Get => TryReadGet(line, 4, MemcachedCommand.Get, ref request),
            Set => TryReadSet(line, ref request),
            Gets when line[4] == ' ' => TryReadGet(line, 5, MemcachedCommand.Gets, ref request),
            _ => (name & MetaMask) == MetaGet && TryReadMetaGet(line, ref request),
        };
    }

    private static bool TryReadGet(ReadOnlySpan<byte> line, int start, MemcachedCommand command, ref MemcachedRequest request)
    {
        var keys = line[start..];
        int first = keys.IndexOfAny((byte)' ', (byte)0);
        if (first >= 0)
        {
            request.Command = command;
            return keys[first] == ' ' && !keys.Contains((byte)0) &&
                WordRequests.ReadKeys(line, start, ref request) == ParseStatus.Complete && request.ArgumentCount > 0;
        }

        if ((uint)(keys.Length - 1) >= MemcachedReader.MaxKeyBytes)
        {
            return false;
        }

        request.Command = command;
        request.Key = new ByteRange(start, keys.Length);
        request.Arguments = request.Key;
        request.ArgumentCount = 1;
        return true;
    }

    // set KEY FLAGS EXPTIME BYTES [noreply]
    private static bool TryReadSet(ReadOnlySpan<byte> line, ref MemcachedRequest request)
    {
        const int start = 4;
        int keyLength = line[start..].IndexOfAny((byte)' ', (byte)0);
        if ((uint)(keyLength - 1) >= MemcachedReader.MaxKeyBytes)
        {
            return false;
        }

        int position = start + keyLength;
        if (!TryReadNumber(line, ref position, out long flags) ||
            !TryReadNumber(line, ref position, out long expiration) ||
            !TryReadNumber(line, ref position, out long valueBytes) ||
            flags > uint.MaxValue ||
            expiration >= MemcachedNumber.FirstNegativeTime ||
            valueBytes > WordRequests.MaxValueBytes)
        {
            return false;
        }

        bool isNoReply = false;
        if (position != line.Length)
        {
            isNoReply = line[position..].SequenceEqual(" noreply"u8);
            if (!isNoReply)
            {
                return false;
            }
        }

        request.Command = MemcachedCommand.Set;
        request.IsNoReply = isNoReply;
        request.Key = new ByteRange(start, keyLength);
        request.ClientFlags = (uint)flags;
        request.ExpirationSeconds = expiration;
        request.Value = new ByteRange(request.LineBytes, (int)valueBytes);
        return true;
    }

    // mg KEY FLAG*, with flags that have no token.
    private static bool TryReadMetaGet(ReadOnlySpan<byte> line, ref MemcachedRequest request)
    {
        const int start = 3;
        const MemcachedMetaFlags plain =
            MemcachedMetaFlags.ReturnVersion | MemcachedMetaFlags.ReturnClientFlags | MemcachedMetaFlags.ReturnHit |
            MemcachedMetaFlags.ReturnKey | MemcachedMetaFlags.ReturnLastAccess | MemcachedMetaFlags.Quiet |
            MemcachedMetaFlags.ReturnSize | MemcachedMetaFlags.ReturnTimeToLive | MemcachedMetaFlags.NoUpdate |
            MemcachedMetaFlags.ReturnValue;

        int keyLength = line[start..].IndexOfAny((byte)' ', (byte)0);
        if (keyLength < 0)
        {
            keyLength = line.Length - start;
        }

        if ((uint)(keyLength - 1) >= MemcachedReader.MaxKeyBytes)
        {
            return false;
        }

        int firstFlag = start + keyLength + 1;
        var flags = MemcachedMetaFlags.None;
        int position = start + keyLength;
        while (position < line.Length)
        {
            // Expects a space and a letter. The next iteration finds the space after the letter, or declines.
            if (line[position] != ' ' || position + 1 >= line.Length)
            {
                return false;
            }

            int letter = line[position + 1] - 'A';
            var flag = (MemcachedMetaFlags)(1UL << letter);
            if ((uint)letter > 'z' - 'A' || (flag & plain) == 0 || (flag & flags) != 0)
            {
                return false;
            }

            flags |= flag;
            position += 2;
        }

        request.Command = MemcachedCommand.MetaGet;
        request.Key = new ByteRange(start, keyLength);
        request.MetaFlags = flags;
        request.Delta = 1;
        if (firstFlag < line.Length)
        {
            request.Arguments = new ByteRange(firstFlag, line.Length - firstFlag);
            request.ArgumentCount = (line.Length - firstFlag + 1) / 2;
        }

        return true;
    }

    // Reads a space and one to eighteen digits, and leaves the position after the last digit.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryReadNumber(ReadOnlySpan<byte> line, ref int position, out long value)
    {
        value = 0;
        int at = position;
        if ((uint)at >= (uint)line.Length || line[at] != ' ')
        {
            return false;
        }

        int firstDigit = ++at;
        while ((uint)at < (uint)line.Length)
        {
            uint digit = (uint)(line[at] - '0');
            if (digit > 9)
            {
                break;
            }

            value = (value * 10) + digit;
            at++;
        }

        int digits = at - firstDigit;
        position = at;
        return (uint)(digits - 1) < 18;
    }
}
