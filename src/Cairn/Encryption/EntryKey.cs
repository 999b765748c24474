namespace Cairn.Encryption;

/// <summary>The key of the entries that one opening of a store writes. Its salt identifies it.</summary>
internal sealed class EntryKey(UInt128 salt, AesGcmKey key)
{
    private ulong _counter;

    public UInt128 Salt { get; } = salt;

    public AesGcmKey Key { get; } = key;

    /// <summary>Returns a number that was not returned before. Only the opening that has drawn the salt calls it.</summary>
    public ulong Next() => Interlocked.Increment(ref _counter);
}
