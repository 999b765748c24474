namespace Cairn.Caching.Tests.Local;

// S3-FIFO with the first level's longer memory, in its simplest form: lists whose first element is the oldest. It is slow, and limited in
// entries and bytes.
internal sealed class EvictionModel(int maxEntries, long maxBytes)
{
    private readonly List<Item> _small = [];
    private readonly List<Item> _main = [];

    // The evicted keys. A null replaces a key that returned.
    private readonly List<string?> _ghost = [];

    public IEnumerable<string> Keys => _small.Concat(_main).Select(item => item.Key);

    public long Bytes => _small.Concat(_main).Sum(item => item.Bytes);

    public bool Find(string key)
    {
        if (ItemOf(key) is not { } item)
        {
            return false;
        }

        item.Uses = Math.Min(item.Uses + 1, 3);
        return true;
    }

    public void Remove(string key)
    {
        _small.RemoveAll(item => item.Key == key);
        _main.RemoveAll(item => item.Key == key);
    }

    public void RemoveUnusable(long now)
    {
        _small.RemoveAll(item => item.Until <= now);
        _main.RemoveAll(item => item.Until <= now);
    }

    public void Set(string key, long bytes, long until, long now)
    {
        if (bytes > maxBytes)
        {
            Remove(key);
            return;
        }

        if (ItemOf(key) is { } old)
        {
            old.Bytes = bytes;
            old.Until = until;
            if (Bytes <= maxBytes)
            {
                return;
            }

            // The entry is too large for its queue: it leaves the queue until the others have made room, and returns as the newest.
            List<Item> queue = _small.Contains(old) ? _small : _main;
            queue.Remove(old);
            MakeRoom(bytes, now);
            queue.Add(old);
            return;
        }

        MakeRoom(bytes, now);
        int ghost = _ghost.LastIndexOf(key);
        if (ghost >= 0)
        {
            _ghost[ghost] = null;
        }

        List<Item> target = ghost >= 0 ? _main : _small;
        target.Add(new Item(key) { Bytes = bytes, Until = until });
    }

    public void Clear()
    {
        _small.Clear();
        _main.Clear();
        _ghost.Clear();
    }

    private void MakeRoom(long bytes, long now)
    {
        while (_small.Count + _main.Count + 1 > maxEntries || Bytes + bytes > maxBytes)
        {
            if (_small.Count + _main.Count == 0)
            {
                return;
            }

            EvictOne(now);
        }
    }

    private void EvictOne(long now)
    {
        int count = _small.Count + _main.Count;
        int mainEntries = Math.Max(1, count - Math.Max(1, count / 10));
        bool isSmallFull = _small.Count >= Math.Max(1, maxEntries / 10) || _small.Sum(item => item.Bytes) >= Math.Max(1, maxBytes / 10);
        if (isSmallFull || _main.Count == 0)
        {
            while (_small.Count > 0)
            {
                Item oldest = Take(_small);
                if (oldest.Uses < 2 || oldest.Until <= now)
                {
                    Remember(oldest.Key, 2 * mainEntries);
                    return;
                }

                oldest.Uses = 0;
                _main.Add(oldest);
            }
        }

        while (_main[0].Uses > 0 && _main[0].Until > now)
        {
            Item oldest = Take(_main);
            oldest.Uses--;
            _main.Add(oldest);
        }

        Remember(Take(_main).Key, 2 * mainEntries);
    }

    private void Remember(string key, int span)
    {
        _ghost.Add(key);
        _ghost.RemoveRange(0, Math.Max(0, _ghost.Count - span));
    }

    private Item? ItemOf(string key) => _small.Find(item => item.Key == key) ?? _main.Find(item => item.Key == key);

    private static Item Take(List<Item> queue)
    {
        Item oldest = queue[0];
        queue.RemoveAt(0);
        return oldest;
    }

    private sealed class Item(string key)
    {
        public string Key { get; } = key;

        public long Bytes { get; set; }

        public long Until { get; set; }

        public int Uses { get; set; }
    }
}
