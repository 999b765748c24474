namespace Cairn.HitRate.Policies;

// Belady's optimal replacement evicts the key whose next request is the furthest ahead. This needs the whole trace in advance, so its hit ratio is
// the upper bound for any policy. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.
//
// Cached keys are in a heap in the order of their next request. A hit does not search the heap for its key. It adds the key again with its new next
// request, and leaves the older element in the heap. An older element is recognised at the head, because its time differs from that of the key.
internal sealed class OptimalPolicy : ICachePolicy
{
    private const int Never = int.MaxValue;
    private const int NotCached = -1;

    private readonly int _capacity;
    private readonly int[] _nextRequestAt;
    private readonly int[] _cachedUntil;
    private readonly PriorityQueue<int, int> _furthestFirst = new(Comparer<int>.Create((x, y) => y.CompareTo(x)));
    private int _now;
    private int _count;

    /// <param name="capacity">The number of keys that the cache holds.</param>
    /// <param name="requests">All future requests, in order.</param>
    /// <param name="distinctKeys">The number of different keys. All requests are below it.</param>
    public OptimalPolicy(int capacity, ReadOnlySpan<int> requests, int distinctKeys)
    {
        _capacity = capacity;
        _cachedUntil = new int[distinctKeys];
        Array.Fill(_cachedUntil, NotCached);
        _nextRequestAt = NextRequests(requests, distinctKeys);
    }

    public bool Request(int key)
    {
        var isHit = _cachedUntil[key] != NotCached;
        if (!isHit && _count == _capacity)
        {
            EvictFurthest();
        }

        if (!isHit)
        {
            _count++;
        }

        _cachedUntil[key] = _nextRequestAt[_now++];
        _furthestFirst.Enqueue(key, _cachedUntil[key]);
        return isHit;
    }

    public void Dispose()
    {
    }

    private void EvictFurthest()
    {
        while (_furthestFirst.TryDequeue(out var key, out var nextRequestAt))
        {
            if (_cachedUntil[key] == nextRequestAt)
            {
                _cachedUntil[key] = NotCached;
                _count--;
                return;
            }
        }
    }

    private static int[] NextRequests(ReadOnlySpan<int> requests, int distinctKeys)
    {
        var next = new int[requests.Length];
        var seenAt = new int[distinctKeys];
        Array.Fill(seenAt, Never);
        for (var i = requests.Length - 1; i >= 0; i--)
        {
            next[i] = seenAt[requests[i]];
            seenAt[requests[i]] = i;
        }

        return next;
    }
}
