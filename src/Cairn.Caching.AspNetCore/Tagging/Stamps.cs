using System.Security.Cryptography;

namespace Cairn.Caching.AspNetCore.Tagging;

/// <summary>Draws random, practically unique 64-bit numbers that are never 0.</summary>
internal static class Stamps
{
    public static ulong Next()
    {
        ulong stamp = 0;
        while (stamp == 0)
        {
            RandomNumberGenerator.Fill(MemoryMarshal.AsBytes(new Span<ulong>(ref stamp)));
        }

        return stamp;
    }
}
