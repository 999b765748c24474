using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

/// <summary>A server's reply, without references to the receive buffer. The value is in the buffer writer of the call.</summary>
/// <param name="Kind">The kind of reply.</param>
/// <param name="Code">The code of a meta reply.</param>
/// <param name="ValueBytes">The length of the value; -1 if there is none.</param>
/// <param name="Version">The entry's version; 0 if not reported.</param>
/// <param name="ClientFlags">The client flags; 0 if not reported.</param>
/// <param name="SecondsLeft">The remaining time to live in seconds; -1 for no expiration, or if not reported.</param>
/// <param name="IsWon">True if the reply grants the right to create the value (W).</param>
/// <param name="IsTaken">True if another client has that right (Z), or the entry is stale (X).</param>
/// <param name="Error">The text of an error reply; otherwise null.</param>
internal readonly record struct MemcachedAnswer(
    MemcachedReplyKind Kind, MemcachedMetaCode Code, int ValueBytes, ulong Version, uint ClientFlags, long SecondsLeft, bool IsWon, bool IsTaken, string? Error)
{
    /// <summary>Parses a reply. Writes the value to the buffer, unless that is null.</summary>
    public static MemcachedAnswer Read(ReadOnlySpan<byte> reply, IBufferWriter<byte>? destination)
    {
        MemcachedReplyReader.TryRead(reply, out MemcachedReply parsed, out _);
        ulong version = parsed.Version ?? 0;
        uint clientFlags = parsed.ClientFlags;
        long secondsLeft = -1;
        long size = parsed.HasValue ? parsed.Value.Length : -1;
        bool isWon = false;
        bool isTaken = false;
        if (parsed.Kind == MemcachedReplyKind.Meta)
        {
            foreach (ReadOnlySpan<byte> flag in parsed.EnumerateFlags(reply))
            {
                switch (flag[0])
                {
                    case (byte)'c':
                        version = DecimalText.TryParseUInt64(flag[1..], out ulong told) ? told : 0;
                        break;
                    case (byte)'f':
                        clientFlags = DecimalText.TryParseUInt64(flag[1..], out ulong number) ? (uint)number : 0;
                        break;
                    case (byte)'s':
                        size = DecimalText.TryParseInt64(flag[1..], out long bytes) ? bytes : size;
                        break;
                    case (byte)'t':
                        secondsLeft = DecimalText.TryParseInt64(flag[1..], out long seconds) ? seconds : -1;
                        break;
                    case (byte)'W':
                        isWon = true;
                        break;
                    case (byte)'Z' or (byte)'X':
                        isTaken = true;
                        break;
                }
            }
        }

        if (parsed.HasValue)
        {
            destination?.Write(parsed.Value.Of(reply));
        }

        string? error = parsed.Kind is MemcachedReplyKind.Error or MemcachedReplyKind.ClientError or MemcachedReplyKind.ServerError
            ? System.Text.Encoding.UTF8.GetString(reply).Trim()
            : null;
        return new MemcachedAnswer(parsed.Kind, parsed.MetaCode, (int)size, version, clientFlags, secondsLeft, isWon, isTaken, error);
    }

    public bool IsValue => Kind == MemcachedReplyKind.Value || (Kind == MemcachedReplyKind.Meta && Code == MemcachedMetaCode.Value);

    public bool IsDone => Kind is MemcachedReplyKind.Stored or MemcachedReplyKind.Deleted
        || (Kind == MemcachedReplyKind.Meta && Code == MemcachedMetaCode.Done);
}
