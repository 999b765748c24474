using Cairn.Maps;

namespace Cairn;

// Asynchronous writes to a map whose writes wait for the disk. The wait blocks no thread.
public sealed partial class PersistentMap<TKey, TValue>
{
    /// <summary>Stores a value like <see cref="Set(TKey, TValue, Expiration)"/>, but blocks no thread while it waits for the disk.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value. It is serialized before the call returns.</param>
    /// <param name="expiration">When the value expires. The default is the map's.</param>
    /// <param name="cancellationToken">Ends the wait. The value is already stored.</param>
    /// <returns>
    /// A task that is complete when the write is as durable as the map promises. It is complete at once if the map only promises to survive the end of the
    /// process.
    /// </returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed. If it failed during the wait, the value is stored but can be lost.</exception>
    public ValueTask SetAsync(TKey key, TValue value, Expiration expiration = default, CancellationToken cancellationToken = default)
    {
        if (ReportsRemovals)
        {
            SetAndReport(key, value, expiration);
            return ValueTask.CompletedTask;
        }

        ValueTask<bool> write;
        using (var codedKey = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]))
        using (var codedValue = new Coded<TValue>(_values, value, stackalloc byte[MapCodec<TValue>.ScratchBytes]))
        {
            write = _collection.SetDurablyAsync(codedKey.Bytes, codedValue.Bytes, expiration, flags: 0, cancellationToken);
        }

        return SettleAsync(write);
    }

    /// <summary>Removes a value like <see cref="Remove(TKey)"/>, but blocks no thread while it waits for the disk.</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait. The value is already removed.</param>
    /// <returns>True if there was a value. The task is complete when the removal is as durable as the map promises.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed. If it failed during the wait, the value is removed but can come back.</exception>
    public ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default)
    {
        ValueTask<bool> removal;
        using (var coded = new Coded<TKey>(_keys, key, stackalloc byte[MapCodec<TKey>.ScratchBytes]))
        {
            removal = _collection.RemoveDurablyAsync(coded.Bytes, cancellationToken);
        }

        return ReportsRemovals ? ReportAsync(key, removal) : removal;
    }

    private async ValueTask<bool> ReportAsync(TKey key, ValueTask<bool> removal)
    {
        if (!await removal.ConfigureAwait(false))
        {
            return false;
        }

        Report(key, MapRemovalReason.Removed);
        return true;
    }

    private async ValueTask SettleAsync(ValueTask<bool> write)
    {
        if (!await write.ConfigureAwait(false) && _isKept)
        {
            throw NotDone(WriteStatus.Busy);
        }
    }
}
