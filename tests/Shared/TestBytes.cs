namespace Cairn.Testing;

/// <summary>Bytes to store: the same for the same arguments, different for others.</summary>
internal static class TestBytes
{
    public static byte[] Of(int length, int seed = 1)
    {
        var bytes = new byte[length];
        new Random((seed * 1_000_003) ^ length).NextBytes(bytes);
        return bytes;
    }
}
