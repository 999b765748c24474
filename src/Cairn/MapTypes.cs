namespace Cairn;

// The types of the keys and values of a store's maps. They are recorded when a map is created, so that no program reads text as numbers. Two collections of
// the store have an entry for each map:
//
//   cairn.maps          for maps whose writes survive the process
//   cairn.maps.durable  for maps whose writes also survive a crash of the machine. The types must be as durable as the entries that they describe.
//
// The key is the map's name. The value is five lines of UTF-8: the version of this format, then type and format of the keys and of the values.
internal sealed class MapTypes(string keyType, string keyFormat, string valueType, string valueFormat)
{
    public const string CollectionName = "cairn.maps";
    public const string DurableCollectionName = "cairn.maps.durable";

    public const int LongestTypeName = 1000;

    private const string FormVersion = "1";

    private readonly string[] _lines = [FormVersion, keyType, keyFormat, valueType, valueFormat];

    /// <summary>Returns whether these types are recorded for a map. False if no types are recorded, because the map does not exist.</summary>
    /// <exception cref="StoreException">Other types are recorded.</exception>
    public bool IsRecorded(CairnStore store, string name)
    {
        // The record can be in either collection, because the map's durability can have changed.
        string? recorded = Find(store, DurableCollectionName, name) ?? Find(store, CollectionName, name);
        if (recorded is not null)
        {
            Compare(name, recorded.Split('\n'));
        }

        return recorded is not null;
    }

    /// <summary>Records the types of a new map. Returns false if another process has just created the map with the same types.</summary>
    /// <exception cref="StoreException">Another process has just created the map with other types, or the record could not be written.</exception>
    public bool TryRecord(CairnStore store, string name, Durability durability)
    {
        CairnCollection collection = Open(store, isDurable: durability > Durability.ProcessCrash);
        WriteStatus status = collection.Add(name, Encoding.UTF8.GetBytes(string.Join('\n', _lines)));
        if (status == WriteStatus.Exists)
        {
            Compare(name, collection.GetString(name)?.Split('\n') ?? []);
        }
        else if (status != WriteStatus.Stored)
        {
            throw new StoreException(
                $"The types of the keys and values of the map '{name}' could not be recorded, because a stopped process holds the store's lock. Continue or end it.");
        }

        return status == WriteStatus.Stored;
    }

    /// <summary>Reads the records of all maps.</summary>
    public static List<(CairnCollection Collection, string Name, byte[] Types)> ReadAll(CairnStore store)
    {
        List<(CairnCollection, string, byte[])> all = [];
        foreach (string name in new[] { CollectionName, DurableCollectionName })
        {
            CairnCollection? collection = Exists(store, name) ? store.Collection(name) : null;
            foreach (StoreEntry entry in collection?.Entries() ?? [])
            {
                if (collection!.Get(entry.KeyText) is { } types)
                {
                    all.Add((collection, entry.KeyText, types));
                }
            }
        }

        return all;
    }

    /// <summary>
    /// Writes the records again after everything was cleared. If another process has created a map with the same name meanwhile, its record stays.
    /// </summary>
    public static void RecordAgain(List<(CairnCollection Collection, string Name, byte[] Types)> all)
    {
        foreach ((CairnCollection collection, string name, byte[] types) in all)
        {
            collection.Add(name, types);
        }
    }

    private static string? Find(CairnStore store, string collection, string name) =>
        Exists(store, collection) ? store.Collection(collection).GetString(name) : null;

    private static CairnCollection Open(CairnStore store, bool isDurable)
    {
        string name = isDurable ? DurableCollectionName : CollectionName;
        return Exists(store, name)
            ? store.Collection(name)
            : store.Collection(name, new CollectionOptions
            {
                Region = StoreRegion.Keep,
                Durability = isDurable ? Durability.GroupCommit : Durability.ProcessCrash,
            });
    }

    private static bool Exists(CairnStore store, string collection) => store.CollectionNames.Contains(collection, StringComparer.Ordinal);

    private void Compare(string name, string[] recorded)
    {
        if (recorded.Length != _lines.Length || recorded[0] != FormVersion)
        {
            throw new StoreException(
                $"The types of the keys and values of the map '{name}' were recorded in a form that this version of Cairn does not know. Open it with the version that wrote it.");
        }

        for (int at = 1; at < _lines.Length; at += 2)
        {
            if (recorded[at] != _lines[at] || recorded[at + 1] != _lines[at + 1])
            {
                throw new StoreException(
                    $"The {(at == 1 ? "keys" : "values")} of the map '{name}' are {recorded[at]} as {recorded[at + 1]}; it was opened with {_lines[at]} as {_lines[at + 1]}. " +
                    "Open it with what it was created with, or use another name for a new map.");
            }
        }
    }
}
