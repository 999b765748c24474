namespace Cairn.Redis.Cluster;

/// <summary>
/// Computes which of the 16,384 slots of a Cluster a key belongs to: CRC-16 (XMODEM) of the key, or of the part between braces.
/// </summary>
/// <remarks>The tool compiles this file, too. Redis Cluster specification, "Key distribution model" and "Hash tags".</remarks>
internal static class HashSlot
{
    public const int Count = 16_384;

    private const int Polynomial = 0x1021;

    private static readonly ushort[] s_table = MakeTable();

    public static int Of(ReadOnlySpan<byte> key) => Crc(TagOf(key)) & (Count - 1);

    /// <summary>Returns the part that is hashed: the text between the first opening brace and the next closing one, or the whole key.</summary>
    public static ReadOnlySpan<byte> TagOf(ReadOnlySpan<byte> key)
    {
        int open = key.IndexOf((byte)'{');
        if (open >= 0)
        {
            int length = key[(open + 1)..].IndexOf((byte)'}');
            if (length > 0)
            {
                return key.Slice(open + 1, length);
            }
        }

        return key;
    }

    /// <summary>Returns a key with a prefix that belongs to the same slot as the given key.</summary>
    public static string Companion(string prefix, string key)
    {
        int open = key.IndexOf('{', StringComparison.Ordinal);
        int close = open < 0 ? -1 : key.IndexOf('}', open + 1);
        if (close > open + 1)
        {
            return prefix + key; // The key's own tag is also the first tag of the new key.
        }

        if (!key.Contains('}', StringComparison.Ordinal) && key.Length > 0)
        {
            return $"{prefix}{{{key}}}";
        }

        // A closing brace within the key would end the tag. Another tag of the same slot serves as well. The loop finds one among some ten thousand numbers.
        int slot = Of(Encoding.UTF8.GetBytes(key));
        for (int number = 0; ; number++)
        {
            string tag = number.ToString(System.Globalization.CultureInfo.InvariantCulture);
            if (Of(Encoding.ASCII.GetBytes(tag)) == slot)
            {
                return $"{prefix}{{{tag}}}{key}";
            }
        }
    }

    private static int Crc(ReadOnlySpan<byte> bytes)
    {
        int crc = 0;
        foreach (byte value in bytes)
        {
            crc = ((crc << 8) & 0xFFFF) ^ s_table[((crc >> 8) ^ value) & 0xFF];
        }

        return crc;
    }

    private static ushort[] MakeTable()
    {
        ushort[] table = new ushort[256];
        for (int i = 0; i < table.Length; i++)
        {
            int crc = i << 8;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 0x8000) != 0 ? (crc << 1) ^ Polynomial : crc << 1;
            }

            table[i] = (ushort)crc;
        }

        return table;
    }
}
