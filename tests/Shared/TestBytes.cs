namespace Cairn.Testing;

/// <summary>Creates bytes to store: the same for the same arguments, and different ones for other arguments.</summary>
internal static class TestBytes
{
    public static byte[] Of(int length, int seed = 1)
    {
        var bytes = new byte[length];
        new Random((seed * 1_000_003) ^ length).NextBytes(bytes);
        return bytes;
    }
}
