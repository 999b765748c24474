using System.Buffers.Binary;

namespace Cairn.TortureTests.Workloads;

/// <summary>
/// Values that identify the write that created them. They contain the key, the number of the value, which is never used twice, and bytes that follow
/// from both. So a torn or mixed value, or one of another key, is detected.
/// </summary>
internal static class TestValue
{
    public const int HeaderBytes = 24;

    public static byte[] Make(int key, long number, int length)
    {
        length = Math.Max(length, HeaderBytes);
        var value = new byte[length];
        BinaryPrimitives.WriteInt64LittleEndian(value, number);
        BinaryPrimitives.WriteInt32LittleEndian(value.AsSpan(8), key);
        BinaryPrimitives.WriteInt32LittleEndian(value.AsSpan(12), length);
        Fill(value, key, number);
        return value;
    }

    /// <summary>Returns the number of the value.</summary>
    /// <exception cref="TornValueException">The value is not, byte for byte, one that was created for the key.</exception>
    public static long Check(ReadOnlySpan<byte> value, int key)
    {
        if (value.Length < HeaderBytes)
        {
            throw new TornValueException($"The value of key {key} has {value.Length} bytes.");
        }

        long number = BinaryPrimitives.ReadInt64LittleEndian(value);
        int foundKey = BinaryPrimitives.ReadInt32LittleEndian(value[8..]);
        int length = BinaryPrimitives.ReadInt32LittleEndian(value[12..]);
        if (foundKey != key || length != value.Length)
        {
            throw new TornValueException($"Key {key} has a value made for key {foundKey}, of {length} bytes; it has {value.Length}.");
        }

        ulong state = StateFor(key, number);
        int at = 16;
        for (; at + 8 <= value.Length; at += 8)
        {
            if (BinaryPrimitives.ReadUInt64LittleEndian(value[at..]) != Next(ref state))
            {
                throw new TornValueException($"Value {number} of key {key}, {length} bytes, is torn at byte {at}.");
            }
        }

        for (; at < value.Length; at++)
        {
            if (value[at] != (byte)(number + at))
            {
                throw new TornValueException($"Value {number} of key {key}, {length} bytes, is torn at byte {at}.");
            }
        }

        return number;
    }

    private static void Fill(Span<byte> value, int key, long number)
    {
        ulong state = StateFor(key, number);
        int at = 16;
        for (; at + 8 <= value.Length; at += 8)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(value[at..], Next(ref state));
        }

        for (; at < value.Length; at++)
        {
            value[at] = (byte)(number + at);
        }
    }

    private static ulong StateFor(int key, long number) => unchecked(((ulong)number * 0x9E37_79B9_7F4A_7C15) ^ (uint)key);

    private static ulong Next(ref ulong state)
    {
        unchecked
        {
            state += 0x9E37_79B9_7F4A_7C15;
            ulong mixed = (state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9;
            return mixed ^ (mixed >> 31);
        }
    }
}

/// <summary>Thrown for a value that was never written.</summary>
internal sealed class TornValueException(string message) : Exception(message);
