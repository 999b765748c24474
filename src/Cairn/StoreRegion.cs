namespace Cairn;

/// <summary>What becomes of a collection's entries when the store is full.</summary>
public enum StoreRegion
{
    /// <summary>A cache: entries that are used least are evicted.</summary>
    Evict = 0,

    /// <summary>A store: nothing is ever evicted. A write that finds no room fails, and changes nothing.</summary>
    Keep = 1,
}
