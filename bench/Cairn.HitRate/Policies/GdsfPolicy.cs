namespace Cairn.HitRate.Policies;

// Greedy-Dual-Size-Frequency: evicts the object with the least uses per byte, aged by the priority of the last victim. Cherkasova, "Improving WWW Proxies
// Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Labs 1998. It favours small objects, so it has a high hit ratio of objects.
internal sealed class GdsfPolicy(long capacityBytes, int[] sizes) : ICachePolicy
{
    private readonly PriorityQueue<(int Key, int Uses), double> _queue = new();
    private readonly int[] _uses = new int[sizes.Length];
    private double _age;
    private long _bytes;

    public bool Request(int key)
    {
        var isHit = _uses[key] > 0;
        if (!isHit)
        {
            if (sizes[key] > capacityBytes)
            {
                return false;
            }

            while (_bytes + sizes[key] > capacityBytes)
            {
                EvictOne();
            }

            _bytes += sizes[key];
        }

        _uses[key]++;
        _queue.Enqueue((key, _uses[key]), _age + ((double)_uses[key] / Math.Max(1, sizes[key])));
        return isHit;
    }

    public void Dispose()
    {
    }

    private void EvictOne()
    {
        while (_queue.TryDequeue(out var victim, out var priority))
        {
            // An earlier priority of an object that was used again since is out of date.
            if (_uses[victim.Key] == victim.Uses)
            {
                _age = priority;
                _uses[victim.Key] = 0;
                _bytes -= sizes[victim.Key];
                return;
            }
        }
    }
}
