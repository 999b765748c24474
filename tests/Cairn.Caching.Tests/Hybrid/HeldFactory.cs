namespace Cairn.Caching.Tests.Hybrid;

/// <summary>A factory whose result and time of return the test decides.</summary>
internal sealed class HeldFactory<T>
{
    private readonly TaskCompletionSource _started = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource<T> _result = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _runs;

    public int Runs => Volatile.Read(ref _runs);

    /// <summary>Gets the token of the last run.</summary>
    public CancellationToken Token { get; private set; }

    /// <summary>Returns a task that completes when the factory runs.</summary>
    public Task StartedAsync() => _started.Task.WaitAsync(TimeSpan.FromSeconds(30));

    public void Return(T value) => _result.SetResult(value);

    public void Throw(Exception exception) => _result.SetException(exception);

    public async ValueTask<T> RunAsync(CancellationToken token)
    {
        Token = token;
        Interlocked.Increment(ref _runs);
        _started.TrySetResult();
        return await _result.Task.WaitAsync(token);
    }
}
