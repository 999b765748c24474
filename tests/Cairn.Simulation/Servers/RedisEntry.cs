namespace Cairn.Simulation.Servers;

/// <summary>A key's value: a string, or the fields of a hash.</summary>
internal sealed class RedisEntry
{
    public byte[]? Text { get; init; }

    public Dictionary<string, byte[]> Fields { get; } = new(StringComparer.Ordinal);

    /// <summary>Gets or sets the moment of expiration on the server's clock, in milliseconds.</summary>
    public long ExpiresAt { get; set; } = long.MaxValue;

    public RedisEntry Copy()
    {
        var copy = new RedisEntry { Text = Text, ExpiresAt = ExpiresAt };
        foreach ((string field, byte[] value) in Fields)
        {
            copy.Fields.Add(field, value);
        }

        return copy;
    }
}
