using Cairn.Protocol;
using Cairn.Redis.Cluster;

namespace Cairn.Cli.Clients;

/// <summary>
/// The value of a key on a server that speaks RESP: a string, or an entry of a distributed cache. An entry is a hash with a field "data". With the option PlainValues it is a
/// string, and a second key has what comes before the string in the data, after 16 bytes of times.
/// </summary>
/// <param name="Value">The value; of a hybrid cache's entry the serialized value, decompressed.</param>
/// <param name="ExpiresAt">When the server removes the key; null for never.</param>
/// <param name="Envelope">What a hybrid cache stored with the value; null if no hybrid cache stored it, or if it was not asked for.</param>
internal sealed record ServerEntry(byte[] Value, DateTimeOffset? ExpiresAt, HybridEnvelope? Envelope)
{
    public const string HeadPrefix = "cairn-head:";

    private const int TimesBytes = 16;

    /// <summary>Returns the second key of a plain value.</summary>
    public static byte[] HeadKey(byte[] key) => Encoding.UTF8.GetBytes(HashSlot.Companion(HeadPrefix, Encoding.UTF8.GetString(key)));

    /// <summary>Reads a key.</summary>
    /// <returns>The entry; null if the server has no such key.</returns>
    /// <exception cref="ToolException">The server speaks another protocol, or the key holds something else.</exception>
    public static ServerEntry? Read(ServerLink link, byte[] key, bool isRaw, TimeProvider clock)
    {
        link.RequireResp("read the entries of caches");
        string type = Encoding.ASCII.GetString(link.AskBytes("TYPE"u8.ToArray(), key) ?? []);
        byte[]? stored = type switch
        {
            "string" => link.AskBytes("GET"u8.ToArray(), key),
            "hash" => link.AskBytes("HGET"u8.ToArray(), key, "data"u8.ToArray()) ?? throw NotReadable("a hash without the field 'data' of a cache's entry"),
            "none" => null,
            _ => throw NotReadable($"a {type}"),
        };
        if (stored is null)
        {
            return null;
        }

        link.SendAll([["PTTL"u8.ToArray(), key]]);
        DateTimeOffset? expiresAt = link.ReadNumber("PTTL") is { } left and >= 0 ? clock.GetUtcNow().AddMilliseconds(left) : null;
        byte[]? head = isRaw || type != "string" ? null : FindHead(link, key);
        HybridEnvelope? envelope = isRaw ? null : HybridEnvelope.Find(head is null ? stored : [.. head, .. stored]);
        return new ServerEntry(envelope?.Payload ?? stored, expiresAt, envelope);
    }

    // A string of another program has no head. A user without rights for the head still reads the string.
    private static byte[]? FindHead(ServerLink link, byte[] key)
    {
        link.SendAll([["GET"u8.ToArray(), HeadKey(key)]]);
        var reply = new RespReplyReader(link.ReadReply());
        return reply.Read() && !reply.IsError && reply.Value.Length > TimesBytes ? reply.Value[TimesBytes..].ToArray() : null;
    }

    private static ToolException NotReadable(string what) => new(ExitCode.Server, $"the key holds {what}; get reads strings and the entries of caches");
}
