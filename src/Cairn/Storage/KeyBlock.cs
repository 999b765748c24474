namespace Cairn.Storage;

// A store's own key as it is in the file: encrypted with a key that is derived from the user's key or password.
//
//   wrapping key = kind Key:      HKDF-SHA256(key, salt)
//                  kind Password: PBKDF2-SHA256(password, salt, iterations)
//   wrapped, tag = AES-256-GCM(wrapping key, nonce 0, store's own key), which covers bytes 8..63 as well
//
//   I1  Each block has its own salt, so no wrapping key is ever used twice. Therefore the nonce can be constant.
//   I2  A file has room for two blocks. The valid one with the higher generation counts. A change writes the other block, flushes it, and only then clears
//       the first. So the file always has a valid block, even after a loss of power.
//   I3  The check detects damage. Only the tag detects a wrong key or password.
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal unsafe struct KeyBlock
{
    public const int Bytes = 128;
    public const int SaltBytes = 32;
    public const int KeyBytes = 32;
    public const int TagBytes = 16;

    /// <summary>More iterations than any password would use. A higher number is the result of damage.</summary>
    public const int MostIterations = 100_000_000;

    private const int CoveredFrom = 8;
    private const int CoveredBytes = 56;

    [FieldOffset(0)] public ulong Generation;
    [FieldOffset(8)] public int Kind;
    [FieldOffset(12)] public int Iterations;
    [FieldOffset(16)] public fixed byte Salt[SaltBytes];

    /// <summary>A random number, different for each key of a store. Reserved bytes follow it.</summary>
    [FieldOffset(48)] public ulong KeyId;
    [FieldOffset(64)] public fixed byte Wrapped[KeyBytes];
    [FieldOffset(96)] public fixed byte Tag[TagBytes];

    /// <summary>The hash of all bytes before it.</summary>
    [FieldOffset(120)] public ulong Check;

    /// <summary>Gets whether there is a block and it is not damaged.</summary>
    public readonly bool IsWhole
    {
        get
        {
            KeyBlock copy = this;
            return copy.Generation != 0 && copy.Check == CheckOf(&copy)
                && ((KeyKind)copy.Kind == KeyKind.Key || ((KeyKind)copy.Kind == KeyKind.Password && copy.Iterations is > 0 and <= MostIterations));
        }
    }

    /// <summary>Returns the bytes that the tag covers in addition to the key.</summary>
    public static ReadOnlySpan<byte> Covered(KeyBlock* block) => new((byte*)block + CoveredFrom, CoveredBytes);

    public static ulong CheckOf(KeyBlock* block) => KeyHash.Compute((byte*)block, (int)((byte*)&block->Check - (byte*)block), 0);
}
