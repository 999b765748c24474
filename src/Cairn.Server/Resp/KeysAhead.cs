using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Server.Resp;

/// <summary>
/// The places of the keys of the requests that a worker's connections are about to execute. All connections of the worker share one ring,
/// because each needs its part only for a moment. If the ring wraps around too early, a connection fetches the keys of another one, which
/// only costs time.
/// </summary>
internal sealed class KeysAhead
{
    private const int Size = 1024;

    private readonly KeyPlacement[] _places = new KeyPlacement[Size];
    private int _unfetched;

    /// <summary>Gets the index of the next place.</summary>
    public int Next { get; private set; }

    public ref readonly KeyPlacement this[int index] => ref _places[index & (Size - 1)];

    public void Add(in KeyPlacement place)
    {
        _places[Next] = place;
        Next = (Next + 1) & (Size - 1);
        _unfetched++;
    }

    /// <summary>
    /// Fetches the buckets of the keys added since the last call. The fetches follow each other directly. A fetch delays the instructions
    /// behind it until its address is translated, which mostly takes as long as the memory access. Only some hundred instructions can be
    /// delayed together.
    /// </summary>
    public void FetchBuckets(StoreEngine engine)
    {
        for (int i = Math.Min(_unfetched, Size); i > 0; i--)
        {
            engine.PrefetchBucket(this[Next - i]);
        }

        _unfetched = 0;
    }
}
