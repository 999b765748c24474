using System.Buffers;
using Cairn.Protocol;
using Cairn.Redis.Connections;

namespace Cairn.Redis.Memcached;

/// <summary>What a server replied, copied out of the connection. The value is in the buffer writer of the call.</summary>
/// <param name="Kind">What kind of reply it is.</param>
/// <param name="Code">Of a meta command.</param>
/// <param name="ValueBytes">Length of the value; -1 if there is none.</param>
/// <param name="Version">The entry's version; 0 if it was not told.</param>
/// <param name="ClientFlags">The client's flags; 0 if they were not told.</param>
/// <param name="SecondsLeft">To live; -1 for no end, or if it was not told.</param>
/// <param name="IsWon">The right to make the value was given with this reply (W).</param>
/// <param name="IsTaken">It was given to another (Z), or the entry is stale (X).</param>
/// <param name="Error">The text of an error; null if it is none.</param>
internal readonly record struct MemcachedAnswer(
    MemcachedReplyKind Kind, MemcachedMetaCode Code, int ValueBytes, ulong Version, uint ClientFlags, long SecondsLeft, bool IsWon, bool IsTaken, string? Error)
{
    /// <summary>Reads a reply; a value goes into the buffer writer that is the state, if there is one.</summary>
    public static readonly WrittenReplyParser<MemcachedAnswer> Parser = static (reply, target) =>
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

        if (parsed.HasValue && target is IBufferWriter<byte> buffer)
        {
            buffer.Write(parsed.Value.Of(reply));
        }

        string? error = parsed.Kind is MemcachedReplyKind.Error or MemcachedReplyKind.ClientError or MemcachedReplyKind.ServerError
            ? System.Text.Encoding.UTF8.GetString(reply).Trim()
            : null;
        return new MemcachedAnswer(parsed.Kind, parsed.MetaCode, (int)size, version, clientFlags, secondsLeft, isWon, isTaken, error);
    };

    public bool IsValue => Kind == MemcachedReplyKind.Value || (Kind == MemcachedReplyKind.Meta && Code == MemcachedMetaCode.Value);

    public bool IsDone => Kind is MemcachedReplyKind.Stored or MemcachedReplyKind.Deleted
        || (Kind == MemcachedReplyKind.Meta && Code == MemcachedMetaCode.Done);
}
