using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

/// <summary>Entries in the order in which they came, linked through the entries themselves. Guarded by the shard's lock.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct LocalQueue(LocalPlace place)
{
    private LocalEntry? _newest;
    private LocalEntry? _oldest;

    public int Count { get; private set; }

    /// <summary>The bytes of all that are in it.</summary>
    public long Bytes { get; private set; }

    public readonly LocalEntry? Oldest => _oldest;

    public void Add(LocalEntry entry)
    {
        entry.Place = place;
        entry.Newer = null;
        entry.Older = _newest;
        if (_newest is null)
        {
            _oldest = entry;
        }
        else
        {
            _newest.Newer = entry;
        }

        _newest = entry;
        Count++;
        Bytes += entry.Bytes;
    }

    public void Remove(LocalEntry entry)
    {
        Debug.Assert(entry.Place == place, "An entry is in the queue that its place names.");
        Join(entry.Older, entry.Newer);
        entry.Older = null;
        entry.Newer = null;
        Count--;
        Bytes -= entry.Bytes;
    }

    /// <summary>Puts an entry where another one is.</summary>
    public void Replace(LocalEntry old, LocalEntry entry)
    {
        Debug.Assert(old.Place == place, "An entry is in the queue that its place names.");
        entry.Place = place;
        Join(old.Older, entry);
        Join(entry, old.Newer);
        old.Older = null;
        old.Newer = null;
        Bytes += entry.Bytes - old.Bytes;
    }

    /// <summary>The oldest entry becomes the newest.</summary>
    public void Rotate()
    {
        LocalEntry oldest = _oldest!;
        if (oldest.Newer is not { } next)
        {
            return;
        }

        Join(null, next);
        oldest.Newer = null;
        oldest.Older = _newest;
        _newest!.Newer = oldest;
        _newest = oldest;
    }

    private void Join(LocalEntry? older, LocalEntry? newer)
    {
        if (older is null)
        {
            _oldest = newer;
        }
        else
        {
            older.Newer = newer;
        }

        if (newer is null)
        {
            _newest = older;
        }
        else
        {
            newer.Older = older;
        }
    }
}
