namespace Cairn.Storage;

/// <summary>Random numbers that are different in every file.</summary>
internal static class RandomBits
{
    /// <summary>Returns random bits. Never 0.</summary>
    /// <remarks>
    /// The bits come from the kernel, like those of RandomNumberGenerator. That class loads OpenSSL first, which costs 5 MB and milliseconds at the start.
    /// A few bits of a GUID are fixed, but not the same bits in both halves.
    /// </remarks>
    public static ulong Next()
    {
        Guid random = Guid.NewGuid();
        ReadOnlySpan<ulong> halves = MemoryMarshal.Cast<Guid, ulong>(new ReadOnlySpan<Guid>(in random));
        return (halves[0] ^ halves[1]) | 1;
    }
}
