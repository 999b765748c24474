using System.Runtime.InteropServices;

namespace Cairn.Storage;

/// <summary>Numbers that no two files share.</summary>
internal static class RandomBits
{
    /// <summary>Random bits; never 0.</summary>
    /// <remarks>
    /// The kernel's random bytes, as RandomNumberGenerator gives them, which loads OpenSSL first: 5 MB, and milliseconds of a start.
    /// A few bits of a GUID are fixed, not the same ones in both halves.
    /// </remarks>
    public static ulong Next()
    {
        Guid random = Guid.NewGuid();
        ReadOnlySpan<ulong> halves = MemoryMarshal.Cast<Guid, ulong>(new ReadOnlySpan<Guid>(in random));
        return (halves[0] ^ halves[1]) | 1;
    }
}
