using Cairn.Indexing;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

// Looking ahead over a batch of requests: the buckets of their keys are fetched, then the entries, while others' are; when the requests
// are executed, what they need is in the cache.
internal sealed unsafe partial class MemcachedSession
{
    // As many as are executed before the first one fetched is evicted from the cache again.
    private const int MaxAhead = 64;

    private readonly LookAhead _ahead;
    private int _aheadStart;
    private int _aheadCount;

    public override void Prefetch(ReadOnlySpan<byte> input)
    {
        _aheadStart = _ahead.Next;
        _aheadCount = 0;
        if (!_isAuthenticated || _skipBytes != 0 || _resumeAt != 0)
        {
            return;
        }

        fixed (byte* bytes = input)
        {
            int position = 0;
            while (_aheadCount < MaxAhead
                && MemcachedReader.TryRead(input[position..], out MemcachedRequest request, out int consumed) == ParseStatus.Complete)
            {
                if (!request.Key.IsEmpty && !request.IsBase64Key)
                {
                    KeyPlacement place = _engine.Memory.Place(
                        _engine.Memory.HashKey(bytes + position + request.Key.Offset, request.Key.Length, 0));
                    _engine.PrefetchBucket(place);
                    _ahead.Add(place);
                    _aheadCount++;
                }

                position += consumed;
            }
        }
    }

    public override void PrefetchFurther()
    {
        for (int i = 0; i < _aheadCount; i++)
        {
            _engine.PrefetchEntry(_ahead[_aheadStart + i]);
        }

        _aheadCount = 0;
    }
}
