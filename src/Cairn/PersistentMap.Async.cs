using Cairn.Maps;

namespace Cairn;

// Writing to a map whose puts wait for the disk, without a thread that does.
public sealed partial class PersistentMap<TKey, TValue>
{
    /// <summary>As <see cref="Put(TKey, TValue, Expiration)"/>, without blocking a thread while the disk is waited for.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, written before the call returns.</param>
    /// <param name="expiration">When it expires; the default is the map's.</param>
    /// <param name="cancellationToken">Ends the waiting; the value is put.</param>
    /// <returns>Complete when the put is as durable as the map promises: at once, if that is no more than the end of the process.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed: if it did while this waited, the value is put and may be lost.</exception>
    public ValueTask PutAsync(TKey key, TValue value, Expiration expiration = default, CancellationToken cancellationToken = default)
    {
        ValueTask<bool> put;
        using (var codedKey = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]))
        using (var codedValue = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]))
        {
            put = _collection.SetDurablyAsync(codedKey.Bytes, codedValue.Bytes, expiration, flags: 0, cancellationToken);
        }

        return SettleAsync(put);
    }

    /// <summary>As <see cref="Invalidate"/>, without blocking a thread while the disk is waited for.</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the waiting; the value is removed.</param>
    /// <returns>True if there was a value, when the removal is as durable as the map promises.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed: if it did while this waited, the value is removed and may come back.</exception>
    public ValueTask<bool> InvalidateAsync(TKey key, CancellationToken cancellationToken = default)
    {
        ValueTask<bool> removal;
        using (var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]))
        {
            removal = _collection.RemoveDurablyAsync(coded.Bytes, cancellationToken);
        }

        return removal;
    }

    private async ValueTask SettleAsync(ValueTask<bool> put)
    {
        if (!await put.ConfigureAwait(false) && _isKept)
        {
            throw NotDone(WriteStatus.Busy);
        }
    }
}
