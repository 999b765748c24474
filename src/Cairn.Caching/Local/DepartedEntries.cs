namespace Cairn.Caching.Local;

/// <summary>Entries that left the first level under a lock, to be told of after it was released. Remembered only if somebody is told.</summary>
internal ref struct DepartedEntries(Action<LocalEntry>? onRemoved)
{
    private List<LocalEntry>? _told;

    public int Count { get; private set; }

    public void Add(LocalEntry entry)
    {
        entry.Place = LocalPlace.Gone;
        Count++;
        if (onRemoved is not null)
        {
            (_told ??= []).Add(entry);
        }
    }

    /// <summary>Tells of each, once.</summary>
    public readonly void Report() => _told?.ForEach(onRemoved!);
}
