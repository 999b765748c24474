namespace Cairn.Redis.Invalidation;

/// <summary>The callers that wait for a change of a key. A key has an entry only while a caller waits for it.</summary>
internal sealed class KeyWaiters
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Waiting> _byKey = new(StringComparer.Ordinal);
    private volatile int _count;

    /// <summary>Gets the number of keys with waiting callers.</summary>
    public int Count => _count;

    public async Task WaitAsync(string key, CancellationToken cancellationToken)
    {
        Waiting? waiting;
        lock (_gate)
        {
            if (!_byKey.TryGetValue(key, out waiting))
            {
                _byKey.Add(key, waiting = new Waiting());
            }

            waiting.Callers++;
            _count = _byKey.Count;
        }

        try
        {
            await waiting.Changed.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            lock (_gate)
            {
                if (--waiting.Callers == 0 && _byKey.TryGetValue(key, out Waiting? current) && current == waiting)
                {
                    _byKey.Remove(key);
                    _count = _byKey.Count;
                }
            }
        }
    }

    public void Wake(string key)
    {
        // There is nearly always no waiter. A caller that starts to wait at this moment has not read the key yet, so it misses nothing.
        if (_count == 0)
        {
            return;
        }

        Waiting? waiting;
        lock (_gate)
        {
            _byKey.Remove(key, out waiting);
            _count = _byKey.Count;
        }

        waiting?.Changed.TrySetResult();
    }

    public void WakeAll()
    {
        Waiting[] all;
        lock (_gate)
        {
            all = [.. _byKey.Values];
            _byKey.Clear();
            _count = 0;
        }

        foreach (Waiting waiting in all)
        {
            waiting.Changed.TrySetResult();
        }
    }

    private sealed class Waiting
    {
        public TaskCompletionSource Changed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Callers { get; set; }
    }
}
