namespace Cairn.TortureTests.Damage;

/// <summary>Chooses numbers that are likely to cause errors in the wrong place: small, huge, all ones, or close to the old value.</summary>
internal static class GarbageWord
{
    /// <summary>Returns a replacement for eight bytes.</summary>
    /// <param name="random">The source of randomness.</param>
    /// <param name="old">The present value.</param>
    /// <param name="other">Eight bytes from elsewhere in the file.</param>
    public static ulong Of(Random random, ulong old, ulong other) => random.Next(7) switch
    {
        0 => 0,
        1 => ulong.MaxValue,
        2 => (ulong)random.Next(1_000),
        3 => old + (ulong)(random.Next(2) == 0 ? 8 : -8),
        4 => other,
        5 => 1UL << random.Next(64),
        _ => (ulong)random.NextInt64() * 3,
    };

    /// <summary>Returns a replacement for four bytes.</summary>
    public static uint Of(Random random, uint old) => random.Next(5) switch
    {
        0 => 0,
        1 => (uint)random.Next(300),
        2 => old + (uint)(random.Next(2) == 0 ? 1 : -1),
        3 => int.MaxValue - (uint)random.Next(2),
        _ => (uint)random.NextInt64(),
    };
}
