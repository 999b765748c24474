using System.Buffers.Binary;

namespace Cairn.TortureTests.Kills;

// A value that identifies itself: the key for which it was written, the write, and the time until which a read may return it. The other bytes follow
// from these, so that every byte can be attributed to the write.
//
//   key i32 | length i32 | sequence i64 | deadline i64 (unix ms, or none) | bytes that follow from the four
internal static class KillValue
{
    public const int HeaderBytes = 24;
    public const int LeastBytes = HeaderBytes + 8;
    public const long NoDeadline = long.MaxValue;

    public static byte[] Encode(int key, long sequence, int length, long deadline)
    {
        var value = new byte[length];
        BinaryPrimitives.WriteInt32LittleEndian(value, key);
        BinaryPrimitives.WriteInt32LittleEndian(value.AsSpan(4), length);
        BinaryPrimitives.WriteInt64LittleEndian(value.AsSpan(8), sequence);
        BinaryPrimitives.WriteInt64LittleEndian(value.AsSpan(16), deadline);
        Fill(value.AsSpan(HeaderBytes), Seed(key, sequence, length, deadline));
        return value;
    }

    /// <summary>Returns the fault in a value that was read for a key, or <see langword="null"/> if it is whole.</summary>
    public static string? FaultOf(int key, ReadOnlySpan<byte> value, out long sequence, out long deadline)
    {
        sequence = 0;
        deadline = 0;
        if (value.Length < LeastBytes)
        {
            return $"has {value.Length} bytes, fewer than any value";
        }

        int foundKey = BinaryPrimitives.ReadInt32LittleEndian(value);
        int length = BinaryPrimitives.ReadInt32LittleEndian(value[4..]);
        sequence = BinaryPrimitives.ReadInt64LittleEndian(value[8..]);
        deadline = BinaryPrimitives.ReadInt64LittleEndian(value[16..]);
        if (foundKey != key)
        {
            return $"was written for key {foundKey}";
        }

        if (length != value.Length)
        {
            return $"has {value.Length} bytes, of which {length} were written";
        }

        ulong state = Seed(key, sequence, length, deadline);
        ReadOnlySpan<byte> rest = value[HeaderBytes..];
        for (int i = 0; i < rest.Length; i += 8)
        {
            ulong word = Next(ref state);
            for (int j = i; j < Math.Min(i + 8, rest.Length); j++)
            {
                if (rest[j] != (byte)(word >> (8 * (j - i))))
                {
                    return $"of write {sequence} is torn at byte {HeaderBytes + j}";
                }
            }
        }

        return null;
    }

    private static void Fill(Span<byte> rest, ulong state)
    {
        for (int i = 0; i < rest.Length; i += 8)
        {
            ulong word = Next(ref state);
            for (int j = i; j < Math.Min(i + 8, rest.Length); j++)
            {
                rest[j] = (byte)(word >> (8 * (j - i)));
            }
        }
    }

    private static ulong Seed(int key, long sequence, int length, long deadline) =>
        ((ulong)(uint)key << 32 | (uint)length) ^ ((ulong)sequence * 0x9E3779B97F4A7C15) ^ ((ulong)deadline * 0xC2B2AE3D27D4EB4F);

    // Each word depends on everything that identifies the write.
    private static ulong Next(ref ulong state)
    {
        state += 0x9E3779B97F4A7C15;
        ulong word = state;
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
        return word ^ (word >> 29);
    }
}
