namespace Cairn.Caching.Local;

/// <summary>
/// Collects the entries that left the first level under a lock, to report them after its release. Stores them only if there is a callback.
/// </summary>
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

    /// <summary>Reports each entry once.</summary>
    public readonly void Report() => _told?.ForEach(onRemoved!);
}
