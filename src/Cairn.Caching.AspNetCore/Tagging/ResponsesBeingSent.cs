namespace Cairn.Caching.AspNetCore.Tagging;

// The responses of this process whose tags have been checked and that are not complete yet, by the path of their request.
//
// ASP.NET Core lets requests with the same cache key share one response: a request that arrives while the response is made waits for it, and the
// response does not pass through the store. If a tag is evicted after the check, a request that begins after the eviction must not receive that
// response, and no policy can refuse it. So such a request uses a cache key of its own (EpochPolicy).
//
//   I1  A response is added before its tags are checked. It is removed when the check fails, or else after its request is complete. So every response
//       that passed the check and can still be shared is here.
//   I2  A path has the epoch of the first of its responses that are here. A request of the same epoch began after the same evictions, so it may share
//       the response.
internal sealed class ResponsesBeingSent
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, (Epoch Begun, int Count)> _paths = new(StringComparer.Ordinal);
    private volatile int _count;

    public void Add(string path, Epoch begun)
    {
        lock (_lock)
        {
            (Epoch Begun, int Count) sent = _paths.GetValueOrDefault(path, (begun, 0));
            _paths[path] = (sent.Begun, sent.Count + 1);
            _count++;
        }
    }

    public void Remove(string path)
    {
        lock (_lock)
        {
            (Epoch Begun, int Count) sent = _paths[path];
            if (sent.Count == 1)
            {
                _paths.Remove(path);
            }
            else
            {
                _paths[path] = (sent.Begun, sent.Count - 1);
            }

            _count--;
        }
    }

    /// <summary>Returns whether a response for the path is being sent that may have begun in another epoch (I2).</summary>
    public bool HasOther(string path, Epoch epoch)
    {
        // Acquire; pairs with Add's write under the lock. An eviction that came after a response's check also came after Add (I1), and this request's
        // epoch was read after the eviction. So the read finds the response.
        if (_count == 0)
        {
            return false;
        }

        lock (_lock)
        {
            return _paths.TryGetValue(path, out (Epoch Begun, int Count) sent) && sent.Begun != epoch;
        }
    }
}
