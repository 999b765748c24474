namespace Cairn.HitRate.Policies;

// Least recently used: one list in the order of the last use. A hit moves its key to the head. The policy evicts the tail.
internal sealed class LruPolicy : ICachePolicy
{
    private readonly int _capacity;
    private readonly KeyList _recency;
    private readonly bool[] _isCached;

    public LruPolicy(int capacity, int distinctKeys)
    {
        _capacity = capacity;
        _recency = new KeyList(distinctKeys);
        _isCached = new bool[distinctKeys];
    }

    public bool Request(int key)
    {
        if (_isCached[key])
        {
            _recency.Remove(key);
            _recency.AddFirst(key);
            return true;
        }

        if (_recency.Count == _capacity)
        {
            _isCached[_recency.RemoveLast()] = false;
        }

        _recency.AddFirst(key);
        _isCached[key] = true;
        return false;
    }

    public void Dispose()
    {
    }
}
