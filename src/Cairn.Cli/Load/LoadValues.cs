namespace Cairn.Cli.Load;

// Generates the value of each key. Its length and content follow from the key's number, so a reply can be checked without storing sent
// values. A value begins with the number, followed by a part of one long text.
internal sealed class LoadValues
{
    private const int Offsets = 4096;

    private readonly byte[] _text;
    private readonly int _minBytes;
    private readonly uint _sizes;

    public LoadValues(int minBytes, int maxBytes)
    {
        _minBytes = minBytes;
        _sizes = (uint)(maxBytes - minBytes) + 1;
        _text = new byte[maxBytes + Offsets];
        ulong state = 1;
        for (int i = 0; i < _text.Length; i++)
        {
            state = (state * 6364136223846793005) + 1442695040888963407;
            _text[i] = (byte)('!' + (state >> 58));
        }
    }

    public int SizeOf(uint key) => _sizes == 1 ? _minBytes : _minBytes + (int)(((ulong)Mix(key) * _sizes) >> 32);

    /// <summary>Writes the value of a key.</summary>
    public void Write(uint key, Span<byte> destination)
    {
        _text.AsSpan((int)(Mix(key) % Offsets), destination.Length).CopyTo(destination);
        if (destination.Length >= LoadPlan.KeyDigits)
        {
            WriteDigits(key, destination);
        }
    }

    /// <summary>Returns whether these bytes equal the value of a key, beginning at a position.</summary>
    public bool Matches(uint key, int position, ReadOnlySpan<byte> piece)
    {
        if (position < LoadPlan.KeyDigits && SizeOf(key) >= LoadPlan.KeyDigits)
        {
            Span<byte> digits = stackalloc byte[LoadPlan.KeyDigits];
            WriteDigits(key, digits);
            int count = Math.Min(piece.Length, LoadPlan.KeyDigits - position);
            if (!piece[..count].SequenceEqual(digits.Slice(position, count)))
            {
                return false;
            }

            piece = piece[count..];
            position += count;
        }

        return piece.SequenceEqual(_text.AsSpan((int)(Mix(key) % Offsets) + position, piece.Length));
    }

    /// <summary>Writes the number of a key as ten digits.</summary>
    public static void WriteDigits(uint key, Span<byte> destination)
    {
        for (int at = LoadPlan.KeyDigits - 2; at >= 0; at -= 2)
        {
            uint rest = key / 100;
            uint pair = key - (rest * 100);
            uint tens = (pair * 103) >> 10;
            key = rest;
            BinaryPrimitives.WriteUInt16LittleEndian(destination[at..], (ushort)(0x3030 + tens + ((pair - (tens * 10)) << 8)));
        }
    }

    /// <summary>Reads a number that <see cref="WriteDigits"/> wrote.</summary>
    public static bool TryReadDigits(ReadOnlySpan<byte> digits, out uint key)
    {
        ulong number = 0;
        foreach (byte digit in digits)
        {
            if (!char.IsAsciiDigit((char)digit))
            {
                key = 0;
                return false;
            }

            number = (number * 10) + digit - '0';
        }

        key = (uint)number;
        return number <= uint.MaxValue;
    }

    private static uint Mix(uint key)
    {
        key = (key ^ (key >> 16)) * 0x85EBCA6B;
        key = (key ^ (key >> 13)) * 0xC2B2AE35;
        return key ^ (key >> 16);
    }
}
