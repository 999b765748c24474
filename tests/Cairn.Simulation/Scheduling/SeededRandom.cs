using System.Buffers.Binary;

namespace Cairn.Simulation.Scheduling;

/// <summary>Random numbers from a seed, by SplitMix64 (Steele, Lea and Flood, 2014). They are the same in every version of the runtime.</summary>
internal sealed class SeededRandom(ulong seed)
{
    private ulong _state = seed;

    /// <summary>Returns independent numbers for one purpose, so that a change of one part of a run leaves the others as they are.</summary>
    public static SeededRandom For(ulong seed, string purpose, int number = 0)
    {
        ulong state = seed ^ 0x9E37_79B9_7F4A_7C15;
        foreach (char letter in purpose)
        {
            state = Mix(state + letter);
        }

        return new SeededRandom(Mix(state + (ulong)number));
    }

    public ulong Next() => Mix(_state += 0x9E37_79B9_7F4A_7C15);

    /// <summary>Returns a number from 0 to less than 1.</summary>
    public double NextDouble() => (Next() >> 11) * (1.0 / (1UL << 53));

    /// <summary>Returns a number from 0 to less than the limit.</summary>
    public int Below(int limit) => (int)(Next() % (ulong)limit);

    public long Between(long least, long most) => least + (long)(Next() % (ulong)(most - least + 1));

    public TimeSpan Between(TimeSpan least, TimeSpan most) => new(Between(least.Ticks, most.Ticks));

    public bool Chance(double probability) => NextDouble() < probability;

    public void Fill(Span<byte> bytes)
    {
        Span<byte> word = stackalloc byte[8];
        for (int i = 0; i < bytes.Length; i += 8)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(word, Next());
            word[..Math.Min(8, bytes.Length - i)].CopyTo(bytes[i..]);
        }
    }

    private static ulong Mix(ulong value)
    {
        value = (value ^ (value >> 30)) * 0xBF58_476D_1CE4_E5B9;
        value = (value ^ (value >> 27)) * 0x94D0_49BB_1331_11EB;
        return value ^ (value >> 31);
    }
}
