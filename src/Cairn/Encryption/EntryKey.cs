namespace Cairn.Encryption;

/// <summary>The key of the entries that one opening of a store writes, named by its salt.</summary>
internal sealed class EntryKey(UInt128 salt, AesGcmKey key)
{
    private ulong _counter;

    public UInt128 Salt { get; } = salt;

    public AesGcmKey Key { get; } = key;

    /// <summary>A number that was not handed out before, for the opening that drew the salt.</summary>
    public ulong Next() => Interlocked.Increment(ref _counter);
}
