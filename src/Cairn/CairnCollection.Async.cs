using Cairn.Engine;

namespace Cairn;

// Asynchronous writes to collections whose writes wait for the disk. The write itself is complete before the call returns. Only the wait for the disk is
// asynchronous, so it blocks no thread.
public sealed partial class CairnCollection
{
    /// <summary>
    /// Stores a value like <see cref="Set(CacheKey, ReadOnlySpan{byte}, Expiration, uint)"/>, but blocks no thread while it waits for the disk.
    /// </summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When the value expires. The default is the collection's. A moment that has passed removes the key.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <param name="cancellationToken">Ends the wait. The value is already set.</param>
    /// <returns>
    /// The result of <see cref="Set(CacheKey, ReadOnlySpan{byte}, Expiration, uint)"/>, once the write is as durable as the collection promises. The task
    /// is complete at once if the write does not have to wait.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed. If it failed during the wait, the value is set but can be lost.</exception>
    public ValueTask<bool> SetDurablyAsync(
        CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0, CancellationToken cancellationToken = default)
    {
        bool isSet;
        long end;
        StoreEngine.BeginDeferring();
        try
        {
            isSet = Set(key, value, expiration, flags);
        }
        finally
        {
            end = StoreEngine.EndDeferring();
        }

        return SettleAsync(isSet, end, cancellationToken);
    }

    /// <summary>Removes a value like <see cref="Remove(CacheKey)"/>, but blocks no thread while it waits for the disk.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="cancellationToken">Ends the wait. The value is already removed.</param>
    /// <returns>The result of <see cref="Remove(CacheKey)"/>, once the removal is as durable as the collection promises.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed. If it failed during the wait, the value is removed but can come back.</exception>
    public ValueTask<bool> RemoveDurablyAsync(CacheKey key, CancellationToken cancellationToken = default)
    {
        bool isRemoved;
        long end;
        StoreEngine.BeginDeferring();
        try
        {
            isRemoved = Remove(key);
        }
        finally
        {
            end = StoreEngine.EndDeferring();
        }

        return SettleAsync(isRemoved, end, cancellationToken);
    }

    private ValueTask<bool> SettleAsync(bool result, long end, CancellationToken cancellation)
    {
        ValueTask wait = Engine.WaitAsync(Number, end, cancellation);
        return wait.IsCompletedSuccessfully ? ValueTask.FromResult(result) : FinishAsync(wait, result);

        static async ValueTask<bool> FinishAsync(ValueTask wait, bool result)
        {
            await wait.ConfigureAwait(false);
            return result;
        }
    }
}
