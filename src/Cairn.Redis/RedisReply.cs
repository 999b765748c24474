using Cairn.Protocol;

namespace Cairn.Redis;

/// <summary>The reply of a server to a command. It holds copies of the received bytes.</summary>
public sealed class RedisReply
{
    private static readonly RedisReply s_null = new() { Type = RedisReplyType.Null };

    private RedisReply()
    {
    }

    /// <summary>Gets the type of the reply.</summary>
    public RedisReplyType Type { get; private init; }

    /// <summary>Gets whether the reply is null.</summary>
    public bool IsNull => Type == RedisReplyType.Null;

    /// <summary>Gets the bytes of a text, number or error; empty for other types.</summary>
    public ReadOnlyMemory<byte> Bytes { get; private init; }

    /// <summary>Gets the elements of an array; empty for other types.</summary>
    public IReadOnlyList<RedisReply> Items { get; private init; } = [];

    /// <summary>Gets the bytes as UTF-8 text; null for a null reply.</summary>
    public string? Text => IsNull ? null : Encoding.UTF8.GetString(Bytes.Span);

    /// <summary>Gets the reply as an integer. Text is parsed.</summary>
    /// <exception cref="InvalidOperationException">The reply is not an integer.</exception>
    public long Integer => DecimalText.TryParseInt64(Bytes.Span, out long number)
        ? number
        : throw new InvalidOperationException($"The reply is no whole number but {Type} '{Text}'.");

    /// <inheritdoc/>
    public override string ToString() => Type switch
    {
        RedisReplyType.Null => "(nothing)",
        RedisReplyType.Array => $"[{string.Join(", ", Items)}]",
        _ => Text!,
    };

    /// <summary>Creates a reply from what another client received.</summary>
    internal static RedisReply Of(RedisReplyType type, byte[]? bytes) => bytes is null ? s_null : new() { Type = type, Bytes = bytes };

    /// <inheritdoc cref="Of(RedisReplyType, byte[])"/>
    internal static RedisReply Of(IReadOnlyList<RedisReply> items) => new() { Type = RedisReplyType.Array, Items = items };

    // Copies the element at the reader's current position.
    internal static RedisReply Read(ref RespReplyReader reader)
    {
        while (reader.Type == RespType.Attribute)
        {
            reader.Skip();
            reader.Read();
        }

        switch (reader.Type)
        {
            case RespType.Null:
                return s_null;
            case RespType.Array or RespType.Set or RespType.Push or RespType.Map:
                // The server states the count, so it is not trusted as a size for the first allocation.
                int count = reader.Type == RespType.Map ? reader.Count * 2 : reader.Count;
                var items = new List<RedisReply>(Math.Min(count, 1024));
                while (count-- > 0 && reader.Read())
                {
                    items.Add(Read(ref reader));
                }

                return new RedisReply { Type = RedisReplyType.Array, Items = items };
            case RespType.Boolean:
                return new RedisReply { Type = RedisReplyType.Integer, Bytes = reader.Boolean ? "1"u8.ToArray() : "0"u8.ToArray() };
            case RespType.Integer or RespType.BigNumber:
                ReadOnlySpan<byte> digits = reader.Value;
                return new RedisReply { Type = RedisReplyType.Integer, Bytes = (digits is [(byte)'+', ..] ? digits[1..] : digits).ToArray() };
            case RespType.Double:
                return new RedisReply { Type = RedisReplyType.Double, Bytes = reader.Value.ToArray() };
            default:
                return new RedisReply
                {
                    Type = reader.IsError ? RedisReplyType.Error : RedisReplyType.Text,
                    Bytes = reader.Value.ToArray(),
                };
        }
    }
}
