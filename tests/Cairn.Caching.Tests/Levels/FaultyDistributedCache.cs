using System.Collections.Concurrent;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Levels;

/// <summary>The fault of a call of <see cref="FaultyDistributedCache"/>.</summary>
internal enum Fault
{
    None = 0,

    /// <summary>Throws before it returns a task; has no effect.</summary>
    ThrowSynchronously,

    /// <summary>Returns a failed task; has no effect.</summary>
    Throw,

    /// <summary>Returns a failed task, but has its effect.</summary>
    ThrowAfterDoing,

    /// <summary>Returns null instead of a task.</summary>
    ReturnNull,

    /// <summary>Blocks the thread until <see cref="FaultyDistributedCache.LetGo"/>, then has its effect.</summary>
    HangSynchronously,

    /// <summary>Waits until <see cref="FaultyDistributedCache.LetGo"/> or cancellation; has its effect only in the first case.</summary>
    Hang,

    /// <summary>Waits until <see cref="FaultyDistributedCache.LetGo"/>, ignoring the token, then has its effect.</summary>
    HangIgnoringCancellation,

    /// <summary>Reports success without an effect; a read finds nothing.</summary>
    Forget,

    /// <summary>A read returns the value of another key, if there is one.</summary>
    LieWithOtherKey,

    /// <summary>A read returns half of the value.</summary>
    Tear,

    /// <summary>A read returns random bytes.</summary>
    Garbage,
}

/// <summary>An IDistributedCache in memory whose calls fail as a script or a seeded random number decides.</summary>
internal class FaultyDistributedCache : IDistributedCache
{
    private readonly Lock _gate = new();
    private readonly Random _random;
    private TaskCompletionSource _letGo = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public FaultyDistributedCache(int seed = 1)
    {
        _random = new Random(seed);
    }

    /// <summary>Gets the actual content. The results of calls can differ from it.</summary>
    public ConcurrentDictionary<string, byte[]> Content { get; init; } = new(StringComparer.Ordinal);

    /// <summary>Gets the options of the last set of each key.</summary>
    public ConcurrentDictionary<string, DistributedCacheEntryOptions> Options { get; } = new(StringComparer.Ordinal);

    /// <summary>Gets or sets the function that chooses the fault of a call by its name ("get", "set", "remove", "refresh") and key.</summary>
    public Func<string, string, Fault> Script { get; set; } = (_, _) => Fault.None;

    /// <summary>Gets all calls.</summary>
    public ConcurrentQueue<(string Operation, string Key)> Calls { get; } = new();

    /// <summary>Gets the number of calls that hang.</summary>
    public int Hanging => Volatile.Read(ref _hanging);

    private int _hanging;

    public int CallsOf(string operation) => Calls.Count(call => call.Operation == operation);

    /// <summary>Ends all waits.</summary>
    public void LetGo()
    {
        lock (_gate)
        {
            _letGo.SetResult();
            _letGo = new(TaskCreationOptions.RunContinuationsAsynchronously);
        }
    }

    public byte[]? Get(string key) => throw new NotSupportedException("The level calls asynchronously.");

    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

    public void Refresh(string key) => throw new NotSupportedException();

    public void Remove(string key) => throw new NotSupportedException();

    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) =>
        Do<byte[]?>("get", key, fault => fault switch
        {
            Fault.Forget => null,
            Fault.LieWithOtherKey => Content.Where(pair => pair.Key != key).Select(pair => pair.Value).FirstOrDefault(),
            Fault.Tear => Content.TryGetValue(key, out byte[]? whole) ? whole[..(whole.Length / 2)] : null,
            Fault.Garbage => RandomBytes(),
            _ => Content.GetValueOrDefault(key),
        }, token);

    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        Do("set", key, fault =>
        {
            if (fault != Fault.Forget)
            {
                Content[key] = value;
                Options[key] = options;
            }

            return true;
        }, token);

    public Task RefreshAsync(string key, CancellationToken token = default) => Do("refresh", key, _ => true, token);

    public Task RemoveAsync(string key, CancellationToken token = default) =>
        Do("remove", key, fault => fault != Fault.Forget && Content.TryRemove(key, out _), token);

    private Task<T> Do<T>(string operation, string key, Func<Fault, T> action, CancellationToken token)
    {
        Calls.Enqueue((operation, key));
        Fault fault = Script(operation, key);
        Task letGo;
        lock (_gate)
        {
            letGo = _letGo.Task;
        }

        switch (fault)
        {
            case Fault.ThrowSynchronously:
                throw new InvalidOperationException("The cache is out of order.");
            case Fault.Throw:
                return Task.FromException<T>(new InvalidOperationException("The cache is out of order."));
            case Fault.ThrowAfterDoing:
                action(fault);
                return Task.FromException<T>(new TimeoutException("The answer was lost."));
            case Fault.ReturnNull:
                return NoTask<T>()!;
            case Fault.HangSynchronously:
                Interlocked.Increment(ref _hanging);
                BlockUntil(letGo);
                Interlocked.Decrement(ref _hanging);
                return Task.FromResult(action(fault));
            case Fault.Hang:
            case Fault.HangIgnoringCancellation:
                return HangAsync();
            default:
                return Task.FromResult(action(fault));
        }

        async Task<T> HangAsync()
        {
            Interlocked.Increment(ref _hanging);
            try
            {
                await letGo.WaitAsync(fault == Fault.Hang ? token : CancellationToken.None);
            }
            finally
            {
                Interlocked.Decrement(ref _hanging);
            }

            return action(fault);
        }
    }

    // The analyzers forbid this for good reason.
#pragma warning disable MA0022, RCS1210, VSTHRD114
    private static Task<T>? NoTask<T>() => null;
#pragma warning restore MA0022, RCS1210, VSTHRD114

    // Blocks as code does that waits synchronously for its own asynchronous calls.
    private static void BlockUntil(Task task)
    {
        using var ended = new ManualResetEventSlim();
        _ = task.ContinueWith(_ => ended.Set(), CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        ended.Wait(CancellationToken.None);
    }

    private byte[] RandomBytes()
    {
        lock (_gate)
        {
            byte[] bytes = new byte[_random.Next(64)];
            _random.NextBytes(bytes);
            return bytes;
        }
    }
}
