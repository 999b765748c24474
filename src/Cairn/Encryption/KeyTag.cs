using System.Runtime.Intrinsics;
using Cairn.Keys;

namespace Cairn.Encryption;

/// <summary>
/// The tag that replaces a key in the index of an encrypted store: 16 bytes that reveal nothing about the key without the store's key.
/// </summary>
internal readonly unsafe struct KeyTag(ulong low, ulong high) : IPlainKey, IEquatable<KeyTag>
{
    public const int Bytes = 16;

    private readonly ulong _low = low;
    private readonly ulong _high = high;

    public int Length => Bytes;

    private Vector128<byte> Vector => Vector128.Create(_low, _high).AsByte();

    /// <summary>Returns the hash of the bytes in memory.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Hash(ulong seed) => KeyHash.Compute16To32(_low, _high, _low, _high, Bytes, seed);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EqualsStored(byte* stored) => Vector128.Load(stored) == Vector;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Store(byte* target) => Vector.Store(target);

    public bool Equals(KeyTag other) => _low == other._low && _high == other._high;

    public override bool Equals(object? obj) => obj is KeyTag other && Equals(other);

    public override int GetHashCode() => _low.GetHashCode();
}
