using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Levels;

// The calls of an IDistributedCache. Each kind has its own circuit breaker.
internal sealed class CacheCalls
{
    private readonly IDistributedCache _cache;
    private readonly IBufferDistributedCache? _bufferCache;
    private readonly BoundedCalls _get;
    private readonly BoundedCalls _set;
    private readonly BoundedCalls _remove;
    private readonly BoundedCalls _refresh;

    /// <summary>Creates the calls of a cache.</summary>
    /// <param name="cache">The cache.</param>
    /// <param name="isPrompt">True if the cache is known not to block.</param>
    /// <param name="make">The function that creates the calls of one kind.</param>
    public CacheCalls(IDistributedCache cache, bool isPrompt, Func<string, PromptCode, BoundedCalls> make)
    {
        _cache = cache;
        _bufferCache = cache as IBufferDistributedCache;
        _get = make("reading from the cache", new(isPrompt));
        _set = make("writing to the cache", new(isPrompt));
        _remove = make("removing from the cache", new(isPrompt));
        _refresh = make("refreshing in the cache", new(isPrompt));
    }

    /// <summary>Milliseconds until a change may be tried; 0 if it may be tried now.</summary>
    public long ChangeWaitMs => Math.Min(_set.Breaker.WaitMs, _remove.Breaker.WaitMs);

    /// <summary>Reads a record; the value is null if there is none.</summary>
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

    /// <summary>Reads a record on this thread. Returns false if the cache may have to be awaited.</summary>
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

    /// <summary>Converts a task without a result to one with a result.</summary>
    public static Task<bool> CompletedAsync(Task? task)
    {
        return task is { IsCompletedSuccessfully: true } ? Done.Task
            : task is null ? Task.FromException<bool>(new InvalidOperationException("It returned no task."))
            : LaterAsync(task);

        static async Task<bool> LaterAsync(Task task)
        {
#pragma warning disable VSTHRD003 // External code started the task, and it is not known to need this thread.
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

        // The task may be backed by an IValueTaskSource, which can be reused only after GetResult.
#pragma warning disable CA1849 // The task has completed.
        task.GetAwaiter().GetResult();
#pragma warning restore CA1849
        return Done.Task;
    }

    // The call has its own buffer until it completes: an abandoned call may still write to it.
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

    // The casts are needed: without them null becomes a null array, whose implicit conversion gives an empty record.
    private static CallResult<ReadOnlyMemory<byte>?> RecordOf(CallResult<byte[]?> result) =>
        new(result.Status, result.Value is { } record ? record : (ReadOnlyMemory<byte>?)null, result.Late);

    private static CallResult<ReadOnlyMemory<byte>?> RecordOf(CallResult<bool> result, ArrayBufferWriter<byte> buffer) =>
        new(result.Status, result is { IsDone: true, Value: true } ? buffer.WrittenMemory : (ReadOnlyMemory<byte>?)null, result.Late);

    private static class Done
    {
        public static readonly Task<bool> Task = System.Threading.Tasks.Task.FromResult(true);
    }
}
