using System.Runtime.InteropServices;

namespace Cairn.Storage;

// A store's own key as its file keeps it: encrypted with a key that is derived from the user's key or password.
//
//   wrapping key = kind Key:      HKDF-SHA256(key, salt)
//                  kind Password: PBKDF2-SHA256(password, salt, iterations)
//   wrapped, tag = AES-256-GCM(wrapping key, nonce 0, store's own key), which covers bytes 8..63 as well
//
//   I1  Each block has a salt of its own, so no wrapping key is ever used twice: the nonce needs not vary.
//   I2  A file has room for two blocks. The one with the higher generation counts, if it is whole: a change writes the other
//       place, brings it to disk, and only then clears the first. So the file has a whole block at any moment, also after a loss of power.
//   I3  The check finds damage. A wrong key or password is told apart by the tag alone.
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal unsafe struct KeyBlock
{
    public const int Bytes = 128;
    public const int SaltBytes = 32;
    public const int KeyBytes = 32;
    public const int TagBytes = 16;

    /// <summary>More than anybody would wait for: a number that is higher was damaged.</summary>
    public const int MostIterations = 100_000_000;

    private const int CoveredFrom = 8;
    private const int CoveredBytes = 56;

    [FieldOffset(0)] public ulong Generation;
    [FieldOffset(8)] public int Kind;
    [FieldOffset(12)] public int Iterations;
    [FieldOffset(16)] public fixed byte Salt[SaltBytes];

    /// <summary>Random, another for each key of a store's own; and reserved bytes behind it.</summary>
    [FieldOffset(48)] public ulong KeyId;
    [FieldOffset(64)] public fixed byte Wrapped[KeyBytes];
    [FieldOffset(96)] public fixed byte Tag[TagBytes];

    /// <summary>Hash of all before it.</summary>
    [FieldOffset(120)] public ulong Check;

    /// <summary>Whether there is a block, and it is as it was written.</summary>
    public readonly bool IsWhole
    {
        get
        {
            KeyBlock copy = this;
            return copy.Generation != 0 && copy.Check == CheckOf(&copy)
                && ((KeyKind)copy.Kind == KeyKind.Key || ((KeyKind)copy.Kind == KeyKind.Password && copy.Iterations is > 0 and <= MostIterations));
        }
    }

    /// <summary>The bytes that the tag covers besides the key.</summary>
    public static ReadOnlySpan<byte> Covered(KeyBlock* block) => new((byte*)block + CoveredFrom, CoveredBytes);

    public static ulong CheckOf(KeyBlock* block) => KeyHash.Compute((byte*)block, (int)((byte*)&block->Check - (byte*)block), 0);
}
