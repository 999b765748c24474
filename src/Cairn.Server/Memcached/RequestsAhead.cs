using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

/// <summary>
/// The requests that a worker's connections are about to execute. All connections of the worker share one ring, because each needs its
/// part only for a moment. If the ring has wrapped around, a connection parses its requests again.
/// </summary>
internal sealed class RequestsAhead
{
    // Enough for most turns, and small enough to stay in the processor's cache.
    private const int Size = 512;

    private readonly AheadRequest[] _requests = new AheadRequest[Size];

    /// <summary>Gets the number of the next request.</summary>
    public long Next { get; private set; }

    /// <summary>Gets the number of the first request whose bucket was not fetched.</summary>
    private long NextToFetch { get; set; }

    /// <summary>Gets the place of the next request. Fill it, then call <see cref="Add"/>.</summary>
    public ref AheadRequest Place => ref this[Next];

    public ref AheadRequest this[long number] => ref _requests[number & (Size - 1)];

    /// <summary>Adds the request at <see cref="Place"/>.</summary>
    public void Add() => Next++;

    /// <summary>
    /// Fetches the buckets of the requests read since the last call. The fetches follow each other directly. A fetch delays the
    /// instructions behind it until its address is translated, which mostly takes as long as the memory access. Only some hundred
    /// instructions can be delayed together.
    /// </summary>
    private void FetchBuckets(StoreEngine engine)
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

    /// <summary>Fetches the entries of a connection's requests, and first the buckets of all connections.</summary>
    public void FetchEntries(StoreEngine engine, long first, int count)
    {
        FetchBuckets(engine); // The first connection fetches the buckets of all that are served together.
        for (long number = first; number < first + count; number++)
        {
            ref readonly AheadRequest ahead = ref this[number];
            if (ahead.IsPlaced && Holds(number))
            {
                engine.PrefetchEntry(ahead.Place);
            }
        }
    }

    /// <summary>Returns whether a request is still in the ring. The oldest is not: its place is that of the next one.</summary>
    public bool Holds(long number) => Next - number < Size;
}

/// <summary>A complete request that was read ahead.</summary>
internal struct AheadRequest
{
    /// <summary>The request, relative to its start.</summary>
    public MemcachedRequest Request;

    /// <summary>The place of its key.</summary>
    public KeyPlacement Place;

    /// <summary>Whether <see cref="Place"/> is set.</summary>
    public bool IsPlaced;

    /// <summary>Its start in the input.</summary>
    public int Position;

    public int Bytes;
}
