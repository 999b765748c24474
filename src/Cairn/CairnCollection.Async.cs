using Cairn.Engine;

namespace Cairn;

// Writing to collections whose writes wait for the disk, without a thread that does: the write itself is done before the call returns, and
// only the waiting is left.
public partial class CairnCollection
{
    /// <summary>As <see cref="Set(CacheKey, ReadOnlySpan{byte}, Expiration, uint)"/>, without blocking a thread while the disk is waited for.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When it expires; the default is the collection's. A moment that has passed removes the key.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <param name="cancellationToken">Ends the waiting; the value is set.</param>
    /// <returns>
    /// What the other returns, once the write is as durable as the collection promises. Where nothing has to be waited for, complete at once.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed: if it did while this waited, the value is set and may be lost.</exception>
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

    /// <summary>As <see cref="Remove(CacheKey)"/>, without blocking a thread while the disk is waited for.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="cancellationToken">Ends the waiting; the value is removed.</param>
    /// <returns>What the other returns, once the removal is as durable as the collection promises.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed: if it did while this waited, the value is removed and may come back.</exception>
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
