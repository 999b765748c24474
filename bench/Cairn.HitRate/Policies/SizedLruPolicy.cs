namespace Cairn.HitRate.Policies;

/// <summary>LRU with a limit in bytes. It does not keep an object that is larger than the cache.</summary>
internal sealed class SizedLruPolicy(long capacityBytes, int[] sizes) : ICachePolicy
{
    private readonly KeyList _keys = new(sizes.Length);
    private readonly bool[] _isCached = new bool[sizes.Length];
    private long _bytes;

    public bool Request(int key)
    {
        if (_isCached[key])
        {
            _keys.Remove(key);
            _keys.AddFirst(key);
            return true;
        }

        Insert(key);
        return false;
    }

    public void Insert(int key)
    {
        if (sizes[key] > capacityBytes)
        {
            return;
        }

        while (_bytes + sizes[key] > capacityBytes)
        {
            var victim = _keys.RemoveLast();
            _isCached[victim] = false;
            _bytes -= sizes[victim];
        }

        _keys.AddFirst(key);
        _isCached[key] = true;
        _bytes += sizes[key];
    }

    public bool Use(int key) => _isCached[key] && Request(key);

    public void Dispose()
    {
    }
}
