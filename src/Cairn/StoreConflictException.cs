namespace Cairn;

/// <summary>
/// A transaction was not committed, because another writer has changed a value that the transaction had read
/// (<see cref="StoreTransaction.TryGet{TKey, TValue}"/>). Nothing was changed. Begin another transaction, which reads the new value.
/// </summary>
public sealed class StoreConflictException : StoreException
{
    internal StoreConflictException(string mapName, object key, string path)
        : base(
            $"The transaction was not committed: another writer has changed the value of the key '{key}' of the map '{mapName}' in the store '{path}' since the " +
            "transaction read it. Nothing was changed. Begin another transaction and do its work again.")
    {
        MapName = mapName;
        Key = key;
    }

    /// <summary>Gets the name of the map that contains the key.</summary>
    public string MapName { get; }

    /// <summary>Gets the key whose value has changed, as the transaction was given it.</summary>
    public object Key { get; }
}
