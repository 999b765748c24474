namespace Cairn.Redis.Cluster;

/// <summary>The slots of keys that are arguments of commands.</summary>
internal static class KeySlot
{
    private const int StackBytes = 256;

    /// <summary>Returns the slot of a Cluster that a key belongs to.</summary>
    public static int Of(in RedisArgument key)
    {
        int length = key.ByteCount;
        Span<byte> bytes = length <= StackBytes ? stackalloc byte[StackBytes] : new byte[length];
        return HashSlot.Of(bytes[..key.CopyTo(bytes)]);
    }
}
