using Cairn.Engine;
using Cairn.Indexing;

namespace Cairn.Server.Resp;

/// <summary>
/// Where the keys of the requests lie that a worker's connections are about to execute: a ring that all of them use, because each needs its
/// part for a moment only. One that is overtaken fetches what another needs, which costs nothing but time.
/// </summary>
internal sealed class KeysAhead
{
    private const int Size = 1024;

    private readonly KeyPlacement[] _places = new KeyPlacement[Size];
    private int _unfetched;

    /// <summary>Where the next one is put.</summary>
    public int Next { get; private set; }

    public ref readonly KeyPlacement this[int index] => ref _places[index & (Size - 1)];

    public void Add(in KeyPlacement place)
    {
        _places[Next] = place;
        Next = (Next + 1) & (Size - 1);
        _unfetched++;
    }

    /// <summary>
    /// Fetches the buckets of what was added since the last time. One after the other, with nothing in between: a fetch holds up what
    /// follows it until its address is translated, which mostly takes as long as the memory does, and only some hundred
    /// instructions are held up together.
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
