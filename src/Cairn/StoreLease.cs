using Cairn.Engine;

namespace Cairn;

/// <summary>The right to compute the value of a missing key. It ends when another caller writes, removes or clears the key.</summary>
/// <remarks>
/// <see cref="CairnCollection.AcquireLease"/> creates a lease. It ends when a value is set with it, when it is disposed, and when its process ends. It also
/// ends after 30 seconds if another caller requests the lease of the key. Use it from one thread at a time.
/// </remarks>
public sealed class StoreLease : IDisposable
{
    private readonly CairnCollection _collection;
    private readonly byte[] _key;
    private readonly ulong _version;
    private bool _isOver;

    internal StoreLease(CairnCollection collection, byte[] key, ulong version)
    {
        _collection = collection;
        _key = key;
        _version = version;
    }

    /// <summary>Gets the duration of a lease if another caller requests it: 30 seconds.</summary>
    public static TimeSpan Duration { get; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Gets whether the lease is still held. False after it was used, released or cancelled. True can be outdated when the caller receives it.
    /// </summary>
    public bool IsHeld => !_isOver && _collection.IsLeaseHeld(_key, _version);

    /// <summary>Stores the value that the lease was for, unless the lease was cancelled.</summary>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="expiration">When the value expires. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>False if the lease was cancelled, or the value could not be stored. This call then changed nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public bool TrySet(ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        Set(value, expiration, flags) == WriteStatus.Stored;

    /// <summary>Releases the lease if no value was set with it. A waiting caller can then acquire it.</summary>
    public void Dispose()
    {
        if (!_isOver)
        {
            _isOver = true;
            _collection.ReleaseLease(_key, _version);
        }
    }

    /// <summary>Does the same as <see cref="TrySet"/>, and returns the reason if nothing was set.</summary>
    internal WriteStatus Set(ReadOnlySpan<byte> value, Expiration expiration, uint flags)
    {
        if (_isOver)
        {
            return WriteStatus.LeaseLost;
        }

        WriteStatus status = _collection.WriteValue(_key, value, expiration, flags, WriteCondition.IfLease, _version);
        _isOver = status is WriteStatus.Stored or WriteStatus.LeaseLost;
        return status;
    }
}
