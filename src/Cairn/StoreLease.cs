using Cairn.Engine;

namespace Cairn;

/// <summary>The right to compute the value of a missing key, until another writes, removes or clears it.</summary>
/// <remarks>
/// Made by <see cref="CairnCollection.AcquireLease"/>. Ends when a value is set with it, when it is disposed, after 30 seconds if another asks
/// for the key, and with the process. Use it from one thread at a time.
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

    /// <summary>How long a lease lasts if another asks for the key: 30 seconds.</summary>
    public static TimeSpan Duration { get; } = TimeSpan.FromSeconds(30);

    /// <summary>False once the lease was used, given back or cancelled. True may be outdated when it arrives.</summary>
    public bool IsHeld => !_isOver && _collection.IsLeaseHeld(_key, _version);

    /// <summary>Stores the value that the lease was for, unless the lease was cancelled.</summary>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="expiration">When it expires; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>False if the lease was cancelled, or the value could not be stored: then nothing was changed by this call.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    public bool TrySet(ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0) =>
        Set(value, expiration, flags) == WriteStatus.Stored;

    /// <summary>Gives the lease back, if no value was set with it. Those who wait for it may then have it.</summary>
    public void Dispose()
    {
        if (!_isOver)
        {
            _isOver = true;
            _collection.GiveUpLease(_key, _version);
        }
    }

    /// <summary>As <see cref="TrySet"/>, and tells why nothing was set.</summary>
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
