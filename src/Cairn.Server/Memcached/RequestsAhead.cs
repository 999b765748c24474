using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Protocol;

namespace Cairn.Server.Memcached;

/// <summary>
/// The requests that a worker's connections are about to execute: a ring that all of them use, because each needs its part for a moment
/// only. Whoever finds that others have overtaken it reads its requests again.
/// </summary>
internal sealed class RequestsAhead
{
    // What a turn serves at once, mostly; and small enough to stay in the processor's cache.
    private const int Size = 512;

    private readonly AheadRequest[] _requests = new AheadRequest[Size];

    /// <summary>The number of the next request.</summary>
    public long Next { get; private set; }

    /// <summary>The number of the first request whose bucket was not fetched.</summary>
    public long NextToFetch { get; private set; }

    /// <summary>Where the next request is put: then <see cref="Add"/> it.</summary>
    public ref AheadRequest Place => ref this[Next];

    public ref AheadRequest this[long number] => ref _requests[number & (Size - 1)];

    /// <summary>Takes what is at <see cref="Place"/>.</summary>
    public void Add() => Next++;

    /// <summary>
    /// Fetches the buckets of the requests read since the last time. One after the other, with nothing in between: a fetch holds up what
    /// follows it until its address is translated, which mostly takes as long as the memory does, and only some hundred
    /// instructions are held up together.
    /// </summary>
    public void FetchBuckets(StoreEngine engine)
    {
        for (long number = Math.Max(NextToFetch, Next - Size + 1); number < Next; number++)
        {
            ref readonly AheadRequest ahead = ref this[number];
            if (ahead.IsPlaced)
            {
                engine.PrefetchBucket(ahead.Place);
            }
        }

        NextToFetch = Next;
    }

    /// <summary>Whether a request is still there. The oldest is not: it is where the next one is put.</summary>
    public bool Holds(long number) => Next - number < Size;
}

/// <summary>A complete request that was read ahead.</summary>
internal struct AheadRequest
{
    /// <summary>The request, relative to where it starts.</summary>
    public MemcachedRequest Request;

    /// <summary>Where its key lies.</summary>
    public KeyPlacement Place;

    /// <summary>Whether there is a <see cref="Place"/>.</summary>
    public bool IsPlaced;

    /// <summary>Where it starts in the input.</summary>
    public int Position;

    public int Bytes;
}
