using System.Text.Json;

namespace Cairn;

/// <summary>The options of a <see cref="PersistentMap{TKey, TValue}"/>: how its entries are kept and serialized.</summary>
/// <typeparam name="TKey">The type of the map's keys.</typeparam>
/// <typeparam name="TValue">The type of the map's values.</typeparam>
public sealed record MapOptions<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    /// <summary>
    /// How the opening treats an existing or a missing map. Default <see cref="StoreOpenMode.OpenOrCreate"/>. Otherwise a <see cref="StoreException"/> says
    /// that the map exists or is missing, or a <see cref="FileNotFoundException"/> that the file of <see cref="PersistentMap.Open{TKey, TValue}(string,
    /// MapOptions{TKey, TValue}?)"/> is missing. Of several processes that create a map at the same time, one succeeds.
    /// </summary>
    public StoreOpenMode OpenMode { get; init; } = StoreOpenMode.OpenOrCreate;

    /// <summary>
    /// Whether entries can be evicted when the store is full. Default <see cref="StoreRegion.Keep"/>: they are not evicted, and a write that finds no room
    /// throws <see cref="StoreFullException"/>. It cannot be changed after the map is created.
    /// </summary>
    public StoreRegion Region { get; init; } = StoreRegion.Keep;

    /// <summary>
    /// The failures that a write survives once it has returned. Default <see cref="Durability.Default"/>: for kept entries
    /// <see cref="Durability.BackgroundCommit"/>. A write survives the process at once, and a loss of power 50 milliseconds and one flush of the disk later.
    /// </summary>
    public Durability Durability { get; init; }

    /// <summary>
    /// The maximum size of the map's entries in bytes, as in <see cref="CollectionOptions.BudgetBytes"/>; 0 for no budget. Default 0.
    /// </summary>
    public long BudgetBytes { get; init; }

    /// <summary>The expiration of entries that are set without one. Default none.</summary>
    public Expiration DefaultExpiration { get; init; } = Expiration.None;

    /// <summary>The serializer of keys. Default null: the built-in format of their type, or JSON if it has none.</summary>
    public IMapSerializer<TKey>? KeySerializer { get; init; }

    /// <summary>The serializer of values. Default null: the built-in format of their type, or JSON if it has none.</summary>
    public IMapSerializer<TValue>? ValueSerializer { get; init; }

    /// <summary>
    /// The options of System.Text.Json, for types without a built-in format. Default null: the framework's defaults, with fields. In trimmed and natively
    /// compiled applications the options must contain metadata, as the <c>Options</c> of a source-generated <c>JsonSerializerContext</c> do.
    /// </summary>
    public JsonSerializerOptions? JsonOptions { get; init; }

    /// <summary>
    /// The name under which the type of the keys is recorded, at most 1,000 characters. Default null: the type's full name. If the type was renamed after
    /// the map was created, set its earlier name here.
    /// </summary>
    public string? KeyTypeName { get; init; }

    /// <summary>The name under which the type of the values is recorded, as in <see cref="KeyTypeName"/>. Default null: the type's full name.</summary>
    public string? ValueTypeName { get; init; }

    internal CollectionOptions ForCollection() => new()
    {
        Region = Region,
        Durability = Durability == Durability.Default && Region == StoreRegion.Keep ? Durability.BackgroundCommit : Durability,
        BudgetBytes = BudgetBytes,
        DefaultExpiration = DefaultExpiration,
    };
}
