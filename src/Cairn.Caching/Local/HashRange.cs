namespace Cairn.Caching.Local;

/// <summary>The hashes from <paramref name="First"/> to <paramref name="Last"/>, both included.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct HashRange(ulong First, ulong Last)
{
    /// <summary>Returns the hashes that give <paramref name="value"/> when they are shifted right; a shift of 64 means all hashes.</summary>
    public static HashRange Of(int shift, ulong value)
    {
        Debug.Assert(shift is >= 0 and <= 64, "A hash has 64 bits.");
        if (shift == 64)
        {
            return new HashRange(0, ulong.MaxValue);
        }

        Debug.Assert(value << shift >> shift == value, "No hash gives a value of more bits than are left.");
        ulong first = value << shift;
        return new HashRange(first, first | ((1UL << shift) - 1));
    }

    public bool Contains(ulong hash) => hash >= First && hash <= Last;
}
