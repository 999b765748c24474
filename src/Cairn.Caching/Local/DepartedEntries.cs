namespace Cairn.Caching.Local;

/// <summary>Entries that left the first level under a lock, to be told of after it was released. They are chained, not copied.</summary>
internal ref struct DepartedEntries
{
    private LocalEntry? _first;

    public int Count { get; private set; }

    public void Add(LocalEntry entry)
    {
        entry.Place = LocalPlace.Gone;
        entry.Older = _first;
        _first = entry;
        Count++;
    }

    /// <summary>Tells of each once, and holds none afterwards.</summary>
    public void Report(Action<LocalEntry>? onRemoved)
    {
        while (_first is { } entry)
        {
            _first = entry.Older;
            entry.Older = null;
            onRemoved?.Invoke(entry);
        }
    }
}
