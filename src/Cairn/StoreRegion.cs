namespace Cairn;

/// <summary>How a collection's entries are treated when the store is full.</summary>
public enum StoreRegion
{
    /// <summary>The collection is a cache: entries that are used least are evicted.</summary>
    Evict = 0,

    /// <summary>The collection keeps its entries: none is ever evicted. A write that finds no room fails and changes nothing.</summary>
    Keep = 1,
}
