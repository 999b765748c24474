using System.Buffers;
using System.Collections.Concurrent;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Levels;

/// <summary>The methods through which the hybrid cache calls implementations of others.</summary>
public enum LevelMethod
{
    None = 0,
    Get,
    Set,
    Remove,
    Refresh,
    TryAcquire,
    TryRenew,
    Release,
    End,
    TrySet,
    WaitForRelease,
    Publish,
}

/// <summary>
/// A distributed cache in memory with leases and a channel. The methods that <see cref="Hangs"/> names do not return until
/// <see cref="LetGo"/>: they block their thread, or return a task that does not complete.
/// </summary>
internal class HangingCache : IDistributedCache, ICacheLeases, ICacheInvalidation
{
    private readonly ConcurrentDictionary<string, byte[]> _values = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, string> _leases = new(StringComparer.Ordinal);
    private readonly ConcurrentBag<ICacheChangeReceiver> _receivers = [];
    private readonly TaskCompletionSource _letGo = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _hanging;

    /// <summary>Gets or sets which methods hang. The others work.</summary>
    public Func<LevelMethod, bool> Hangs { get; set; } = _ => false;

    /// <summary>Gets whether hanging methods block their thread instead of returning a task that does not complete.</summary>
    public bool BlocksThread { get; init; }

    /// <summary>Gets whether a subscription blocks its thread.</summary>
    public bool BlocksSubscription { get; init; }

    /// <summary>Gets the number of leases that were not released.</summary>
    public int Leased => _leases.Count;

    public int Receivers => _receivers.Count;

    /// <summary>Gets whether values are written with the lease in one step.</summary>
    public bool SetsWithLease { get; init; }

    /// <summary>Gets the number of calls that hang.</summary>
    public int Hanging => Volatile.Read(ref _hanging);

    public bool ReportsChanges => false;

    public bool ChecksValue => false;

    public bool ChangesEndLeases => false;

    public ConcurrentQueue<LevelMethod> Calls { get; } = new();

    public void LetGo()
    {
        Hangs = _ => false;
        _letGo.TrySetResult();
    }

    /// <summary>Sends receivers a heartbeat: all changes were delivered.</summary>
    public void Beat()
    {
        foreach (ICacheChangeReceiver receiver in _receivers)
        {
            receiver.OnHeartbeat(TimeSpan.Zero);
        }
    }

    public byte[]? Get(string key) => throw new NotSupportedException("The level calls asynchronously.");

    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

    public void Refresh(string key) => throw new NotSupportedException();

    public void Remove(string key) => throw new NotSupportedException();

    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => DoAsync(LevelMethod.Get, () => _values.GetValueOrDefault(key));

    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        DoAsync(LevelMethod.Set, () => _values[key] = value);

    public Task RefreshAsync(string key, CancellationToken token = default) => DoAsync(LevelMethod.Refresh, () => true);

    public Task RemoveAsync(string key, CancellationToken token = default) => DoAsync(LevelMethod.Remove, () => _values.TryRemove(key, out _));

    public async ValueTask<CacheLeaseStatus> TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken) => await DoAsync(
            LevelMethod.TryAcquire, () => _leases.TryAdd(key, owner) ? CacheLeaseStatus.Acquired : CacheLeaseStatus.Held);

    public async ValueTask<bool> TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken) =>
        await DoAsync(LevelMethod.TryRenew, () => _leases.GetValueOrDefault(key) == owner);

    public async ValueTask ReleaseAsync(string key, string owner, CancellationToken cancellationToken) =>
        await DoAsync(LevelMethod.Release, () => _leases.TryRemove(new(key, owner)));

    public async ValueTask EndAsync(string key, CancellationToken cancellationToken) =>
        await DoAsync(LevelMethod.End, () => _leases.TryRemove(key, out _));

    public async ValueTask<bool> WaitForReleaseAsync(string key, CancellationToken cancellationToken) =>
        await DoAsync(LevelMethod.WaitForRelease, () => false);

    public async ValueTask<CacheLeaseStatus> TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken) =>
        !SetsWithLease ? CacheLeaseStatus.NotSupported : await DoAsync(LevelMethod.TrySet, () =>
        {
            if (_leases.GetValueOrDefault(key) != owner)
            {
                return CacheLeaseStatus.Held;
            }

            _values[key] = value.ToArray();
            return CacheLeaseStatus.Acquired;
        });

    public async ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken) => await DoAsync(LevelMethod.Publish, () => true);

    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver)
    {
        if (BlocksSubscription)
        {
            Block();
        }

        _receivers.Add(receiver);
        receiver.OnHeartbeat(TimeSpan.Zero);
        return new Nothing();
    }

    protected Task<T> DoAsync<T>(LevelMethod method, Func<T> work)
    {
        Calls.Enqueue(method);
        if (!Hangs(method))
        {
            return Task.FromResult(work());
        }

        Interlocked.Increment(ref _hanging);
        if (!BlocksThread)
        {
            return LaterAsync();
        }

        Block();
        Interlocked.Decrement(ref _hanging);
        return Task.FromResult(work());

        async Task<T> LaterAsync()
        {
#pragma warning disable VSTHRD003 // The test completes it.
            await _letGo.Task;
#pragma warning restore VSTHRD003
            Interlocked.Decrement(ref _hanging);
            return work();
        }
    }

    private void Block()
    {
        using var ended = new ManualResetEventSlim();
        _ = _letGo.Task.ContinueWith(_ => ended.Set(), CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        ended.Wait(CancellationToken.None);
    }

    private sealed class Nothing : IDisposable
    {
        public void Dispose()
        {
            // Receivers live as long as their test.
        }
    }
}

/// <summary>A hanging cache with buffer methods.</summary>
internal sealed class HangingBufferCache : HangingCache, IBufferDistributedCache
{
    public bool TryGet(string key, IBufferWriter<byte> destination) => throw new NotSupportedException();

    public void Set(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

    public async ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default)
    {
        byte[]? value = await GetAsync(key, token);
        destination.Write(value);
        return value is not null;
    }

    public async ValueTask SetAsync(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        await SetAsync(key, value.ToArray(), options, token);
}
