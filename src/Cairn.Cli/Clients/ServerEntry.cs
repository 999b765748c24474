using Cairn.Protocol;

namespace Cairn.Cli.Clients;

/// <summary>The value of a key on a server that speaks RESP: a string, or an entry of a distributed cache, which is a hash with a field "data".</summary>
/// <param name="Value">The value; of a hybrid cache's entry the serialized value, decompressed.</param>
/// <param name="ExpiresAt">When the server removes the key; null for never.</param>
/// <param name="Envelope">What a hybrid cache stored with the value; null if no hybrid cache stored it, or if it was not asked for.</param>
internal sealed record ServerEntry(byte[] Value, DateTimeOffset? ExpiresAt, HybridEnvelope? Envelope)
{
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
        HybridEnvelope? envelope = isRaw ? null : HybridEnvelope.Find(stored);
        return new ServerEntry(envelope?.Payload ?? stored, expiresAt, envelope);
    }

    private static ToolException NotReadable(string what) => new(ExitCode.Server, $"the key holds {what}; get reads strings and the entries of caches");
}
