namespace Cairn.DocumentTests.Samples;

/// <summary>The tutorial's cache within a process, above the store.</summary>
internal sealed class TitleCache
{
    private readonly CairnStore _store;
    private readonly CairnCollection _books;
    private readonly InvalidationCursor[] _cursors;
    private readonly Dictionary<ulong, string> _titles = [];
    private readonly ulong[] _changed = new ulong[64];

    public TitleCache(CairnStore store)
    {
        _store = store;
        _books = store.DefaultCollection;
        _cursors = [.. Enumerable.Range(0, store.PartitionCount).Select(store.GetInvalidationCursor)];
    }

    public string? Get(string key)
    {
        // First forget the changed titles, then read. The next call notices changes that happen after this.
        ForgetWhatChanged(_books.PartitionOf(key));
        ulong hash = _books.HashOf(key);
        if (!_titles.TryGetValue(hash, out string? title) && (title = _books.GetString(key)) is not null)
        {
            Console.WriteLine($"(read {key} from the store)");
            _titles[hash] = title;
        }

        return title;
    }

    private void ForgetWhatChanged(int partition)
    {
        InvalidationStatus status;
        do
        {
            status = _store.ReadInvalidations(partition, ref _cursors[partition], _changed, out int count);
            if (status == InvalidationStatus.Overrun)
            {
                _titles.Clear(); // More has changed than the message can list.
            }

            foreach (ulong hash in _changed.AsSpan(0, count))
            {
                _titles.Remove(hash);
            }
        }
        while (status != InvalidationStatus.None);
    }
}
