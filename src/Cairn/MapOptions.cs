using System.Text.Json;

namespace Cairn;

/// <summary>How a <see cref="PersistentMap{TKey, TValue}"/> keeps its entries, and how they are serialized.</summary>
/// <typeparam name="TKey">Of the map's keys.</typeparam>
/// <typeparam name="TValue">Of the map's values.</typeparam>
public sealed record MapOptions<TKey, TValue>
    where TKey : notnull
    where TValue : notnull
{
    /// <summary>
    /// Whether entries may be evicted when the store is full. Default <see cref="StoreRegion.Keep"/>: they are not, and a put that finds no room throws
    /// <see cref="StoreFullException"/>. Stays what it was when the map was created.
    /// </summary>
    public StoreRegion Region { get; init; } = StoreRegion.Keep;

    /// <summary>
    /// What a put has survived once it returns. Default <see cref="Durability.Default"/>: for kept entries <see cref="Durability.GroupCommit"/>.
    /// </summary>
    public Durability Durability { get; init; }

    /// <summary>Bytes that the map's entries may take, as <see cref="CollectionOptions.BudgetBytes"/>; 0 for no budget. Default 0.</summary>
    public long BudgetBytes { get; init; }

    /// <summary>How entries expire that are put without an expiration of their own. Default none.</summary>
    public Expiration DefaultExpiration { get; init; } = Expiration.None;

    /// <summary>How keys are written. Default null: the built-in form of their type, else JSON.</summary>
    public IMapSerializer<TKey>? KeySerializer { get; init; }

    /// <summary>How values are written. Default null: the built-in form of their type, else JSON.</summary>
    public IMapSerializer<TValue>? ValueSerializer { get; init; }

    /// <summary>
    /// Of System.Text.Json, for types without a built-in form. Default null: the framework's own settings, with fields. In trimmed and natively compiled
    /// applications they must bring metadata, as the <c>Options</c> of a source-generated <c>JsonSerializerContext</c> do.
    /// </summary>
    public JsonSerializerOptions? JsonOptions { get; init; }

    /// <summary>
    /// The name under which the keys' type is recorded, at most 1,000 characters. Default null: the type's full name. For a type that was renamed since the map was
    /// created: its name of that time.
    /// </summary>
    public string? KeyTypeName { get; init; }

    /// <summary>The name under which the values' type is recorded, as <see cref="KeyTypeName"/>. Default null: the type's full name.</summary>
    public string? ValueTypeName { get; init; }

    internal CollectionOptions ForCollection() => new()
    {
        Region = Region,
        Durability = Durability,
        BudgetBytes = BudgetBytes,
        DefaultExpiration = DefaultExpiration,
    };
}
