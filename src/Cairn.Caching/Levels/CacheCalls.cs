using System.Buffers;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Levels;

// The calls of an IDistributedCache, each kind with a circuit of its own.
internal sealed class CacheCalls
{
    private readonly IDistributedCache _cache;
    private readonly IBufferDistributedCache? _bufferCache;
    private readonly BoundedCalls _get;
    private readonly BoundedCalls _set;
    private readonly BoundedCalls _remove;
    private readonly BoundedCalls _refresh;

    /// <summary>Creates them.</summary>
    /// <param name="cache">Whose calls they are.</param>
    /// <param name="isPrompt">True if the cache is known not to block.</param>
    /// <param name="make">Makes the calls of a kind.</param>
    public CacheCalls(IDistributedCache cache, bool isPrompt, Func<string, PromptCode, BoundedCalls> make)
    {
        _cache = cache;
        _bufferCache = cache as IBufferDistributedCache;
        _get = make("reading from the cache", new(isPrompt));
        _set = make("writing to the cache", new(isPrompt));
        _remove = make("removing from the cache", new(isPrompt));
        _refresh = make("refreshing in the cache", new(isPrompt));
    }

    /// <summary>Milliseconds until any change may be tried; 0 if one may.</summary>
    public long ChangeWaitMs => Math.Min(_set.Breaker.WaitMs, _remove.Breaker.WaitMs);

    /// <summary>Reads a record; no value if there is none.</summary>
    public ValueTask<CallResult<ReadOnlyMemory<byte>?>> GetAsync(string key, TimeSpan limit, in LevelWait wait)
    {
        if (_bufferCache is not null)
        {
            return GetIntoBufferAsync(key, limit, wait);
        }

        ValueTask<CallResult<byte[]?>> reading = _get.CallAsync(
            (_cache, key), static (state, token) => state._cache.GetAsync(state.key, token), limit, wait);
        return reading.IsCompletedSuccessfully ? new(RecordOf(reading.Result)) : LaterAsync(reading);

        static async ValueTask<CallResult<ReadOnlyMemory<byte>?>> LaterAsync(ValueTask<CallResult<byte[]?>> reading) =>
            RecordOf(await reading.ConfigureAwait(false));
    }

    /// <summary>Reads a record on this thread; false if the cache may have to be waited for.</summary>
    public bool TryGetNow(string key, out CallResult<byte[]?> result)
    {
        result = default;
        return _bufferCache is null
            && _get.TryCallNow((_cache, key), static (state, token) => state._cache.GetAsync(state.key, token), out result);
    }

    public ValueTask<CallResult<bool>> SetAsync(string key, byte[] record, DistributedCacheEntryOptions expiry, TimeSpan limit) => _set.CallAsync(
        (Calls: this, key, record, expiry),
        static (state, token) => state.Calls._bufferCache is { } bufferCache
            ? CompletedAsync(bufferCache.SetAsync(state.key, new ReadOnlySequence<byte>(state.record), state.expiry, token))
            : CompletedAsync(state.Calls._cache.SetAsync(state.key, state.record, state.expiry, token)),
        limit,
        CancellationToken.None);

    public ValueTask<CallResult<bool>> RemoveAsync(string key, TimeSpan limit) => _remove.CallAsync(
        (_cache, key), static (state, token) => CompletedAsync(state._cache.RemoveAsync(state.key, token)), limit, CancellationToken.None);

    public ValueTask<CallResult<bool>> RefreshAsync(string key, TimeSpan limit, in LevelWait wait) => _refresh.CallAsync(
        (_cache, key), static (state, token) => CompletedAsync(state._cache.RefreshAsync(state.key, token)), limit, wait);

    /// <summary>A task without a result as one that has some.</summary>
    public static Task<bool> CompletedAsync(Task? task)
    {
        return task is { IsCompletedSuccessfully: true } ? Done.Task
            : task is null ? Task.FromException<bool>(new InvalidOperationException("It returned no task."))
            : LaterAsync(task);

        static async Task<bool> LaterAsync(Task task)
        {
#pragma warning disable VSTHRD003 // Code of others began it, and is not known to need this thread.
            await task.ConfigureAwait(false);
#pragma warning restore VSTHRD003
            return true;
        }
    }

    /// <inheritdoc cref="CompletedAsync(Task?)"/>
    public static Task<bool> CompletedAsync(ValueTask task)
    {
        if (!task.IsCompletedSuccessfully)
        {
            return CompletedAsync(task.AsTask());
        }

        // It may be backed by a source, which learns by this that it may be used again.
#pragma warning disable CA1849 // It has completed.
        task.GetAwaiter().GetResult();
#pragma warning restore CA1849
        return Done.Task;
    }

    // Its own buffer, until it has completed: a call that was given up may still write to it.
    private ValueTask<CallResult<ReadOnlyMemory<byte>?>> GetIntoBufferAsync(string key, TimeSpan limit, in LevelWait wait)
    {
        var buffer = new ArrayBufferWriter<byte>();
        ValueTask<CallResult<bool>> reading = _get.CallAsync(
            (_bufferCache, key, buffer),
            static (state, token) => state._bufferCache!.TryGetAsync(state.key, state.buffer, token).AsTask(),
            limit,
            wait);
        return reading.IsCompletedSuccessfully ? new(RecordOf(reading.Result, buffer)) : LaterAsync(reading, buffer);

        static async ValueTask<CallResult<ReadOnlyMemory<byte>?>> LaterAsync(ValueTask<CallResult<bool>> reading, ArrayBufferWriter<byte> buffer) =>
            RecordOf(await reading.ConfigureAwait(false), buffer);
    }

    // Not by a conversion, which would make an empty record of null.
    private static CallResult<ReadOnlyMemory<byte>?> RecordOf(CallResult<byte[]?> result) =>
        new(result.Status, result.Value is { } record ? record : (ReadOnlyMemory<byte>?)null, result.Late);

    private static CallResult<ReadOnlyMemory<byte>?> RecordOf(CallResult<bool> result, ArrayBufferWriter<byte> buffer) =>
        new(result.Status, result is { IsDone: true, Value: true } ? buffer.WrittenMemory : null, result.Late);

    private static class Done
    {
        public static readonly Task<bool> Task = System.Threading.Tasks.Task.FromResult(true);
    }
}
