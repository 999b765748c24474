namespace Cairn.HitRate.Policies;

// SIEVE: one queue in the order of insertion, which a hit never reorders. A hit marks its key. A hand walks from the oldest key towards the newest
// and then starts again. It clears the mark of each marked key, and evicts the first key without a mark. Zhang, Yang, Yue, Vigfusson and
// Rashmi, "SIEVE is Simpler than LRU", NSDI 2024.
internal sealed class SievePolicy : ICachePolicy
{
    private readonly int _capacity;
    private readonly KeyList _queue;
    private readonly bool[] _isCached;
    private readonly bool[] _isVisited;
    private int _hand = KeyList.None;

    public SievePolicy(int capacity, int distinctKeys)
    {
        _capacity = capacity;
        _queue = new KeyList(distinctKeys);
        _isCached = new bool[distinctKeys];
        _isVisited = new bool[distinctKeys];
    }

    public bool Request(int key)
    {
        if (_isCached[key])
        {
            _isVisited[key] = true;
            return true;
        }

        if (_queue.Count == _capacity)
        {
            Evict();
        }

        _queue.AddFirst(key);
        _isCached[key] = true;
        _isVisited[key] = false;
        return false;
    }

    public void Dispose()
    {
    }

    private void Evict()
    {
        var candidate = _hand == KeyList.None ? _queue.Last : _hand;
        while (_isVisited[candidate])
        {
            _isVisited[candidate] = false;
            candidate = _queue.TowardsFirst(candidate);
            if (candidate == KeyList.None)
            {
                candidate = _queue.Last;
            }
        }

        _hand = _queue.TowardsFirst(candidate);
        _queue.Remove(candidate);
        _isCached[candidate] = false;
    }
}
