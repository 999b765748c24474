using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

// A policy of the first level in its simplest form: lists whose first element is the oldest. It is slow, and limited in entries and bytes. Frequencies
// come from the sketch of the product, which has tests of its own.
internal sealed class EvictionModel(QueuePolicy policy, int maxEntries, long maxBytes)
{
    private readonly List<Item> _small = [];
    private readonly List<Item> _main = [];

    // The evicted keys. A null replaces a key that returned.
    private readonly List<string?> _ghost = [];

    private FrequencySketch? _sketch;

    public IEnumerable<string> Keys => _small.Concat(_main).Select(item => item.Key);

    public long Bytes => BytesOf(_small) + BytesOf(_main);

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

        _sketch?.Add(LocalEntries.HashOf(key), 1);
        MakeRoom(bytes, now);
        int ghost = policy.GhostsPerMainEntry > 0 ? _ghost.LastIndexOf(key) : -1;
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
        _sketch = null;
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
        if (policy.ComparesFrequency && (_sketch is null || _sketch.Entries < count / 2))
        {
            _sketch = new FrequencySketch(count);
        }

        (Item victim, bool isOfSmall) = ChooseVictim(now);
        _sketch?.Add(LocalEntries.HashOf(victim.Key), victim.Uses);
        if (isOfSmall || policy.RemembersMain)
        {
            Remember(victim.Key, policy.GhostSpan(count));
        }

        _small.Remove(victim);
        _main.Remove(victim);
    }

    private (Item Victim, bool IsOfSmall) ChooseVictim(long now)
    {
        long smallBytes = policy.SmallOf(maxBytes);
        if (policy.OrdersByUse)
        {
            return OldestByUse(smallBytes, now);
        }

        long mainBytes = maxBytes - smallBytes;
        bool hasTooManyEntries = _small.Count + _main.Count + 1 > maxEntries;
        if (policy.ComparesFrequency && (hasTooManyEntries || BytesOf(_main) < mainBytes / 4 * 3))
        {
            while (_small.Count > policy.SmallOf(maxEntries) || (BytesOf(_small) > smallBytes && _small.Count > 1))
            {
                Promote();
            }
        }

        while (_small.Count > 0 && (_main.Count == 0 || _small.Count >= policy.SmallOf(maxEntries) || BytesOf(_small) >= smallBytes))
        {
            while (_small.Count > 0 && _small[0].Uses >= policy.UsesForMain && _small[0].Until > now)
            {
                Promote();
            }

            if (_small.Count == 0)
            {
                break;
            }

            Item oldest = _small[0];
            if (!policy.ComparesFrequency || _main.Count == 0 || oldest.Until <= now)
            {
                return (oldest, true);
            }

            Item rival = VictimOfMain(now);
            if (rival.Until > now && UsesOf(oldest) <= UsesOf(rival) + policy.Margin)
            {
                return (oldest, true);
            }

            Promote();
            if (rival.Until <= now || hasTooManyEntries || BytesOf(_main) > mainBytes)
            {
                return (rival, false);
            }
        }

        return (VictimOfMain(now), false);
    }

    private (Item Victim, bool IsOfSmall) OldestByUse(long smallBytes, long now)
    {
        while (true)
        {
            while (_small.Count > policy.SmallOf(maxEntries) || (BytesOf(_small) > smallBytes && _small.Count > 1))
            {
                Item first = Take(_small);
                (first.Uses > 0 && first.Until > now ? _small : _main).Add(first);
                first.Uses = 0;
            }

            if (_main.Count == 0)
            {
                return (_small[0], true);
            }

            if (_main[0].Uses == 0 || _main[0].Until <= now)
            {
                return (_main[0], false);
            }

            Item used = Take(_main);
            used.Uses = 0;
            _small.Add(used);
        }
    }

    private Item VictimOfMain(long now)
    {
        while (_main[0].Uses > 0 && _main[0].Until > now)
        {
            Item oldest = Take(_main);
            oldest.Uses--;
            _sketch?.Add(LocalEntries.HashOf(oldest.Key), 1);
            _main.Add(oldest);
        }

        return _main[0];
    }

    private void Promote()
    {
        Item oldest = Take(_small);
        _sketch?.Add(LocalEntries.HashOf(oldest.Key), oldest.Uses);
        oldest.Uses = 0;
        _main.Add(oldest);
    }

    private int UsesOf(Item item) => _sketch!.Estimate(LocalEntries.HashOf(item.Key)) + item.Uses;

    private void Remember(string key, int span)
    {
        _ghost.Add(key);
        _ghost.RemoveRange(0, Math.Max(0, _ghost.Count - span));
    }

    private Item? ItemOf(string key) => _small.Find(item => item.Key == key) ?? _main.Find(item => item.Key == key);

    private static long BytesOf(List<Item> queue) => queue.Sum(item => item.Bytes);

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
