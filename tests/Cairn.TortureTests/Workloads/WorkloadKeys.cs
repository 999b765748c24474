namespace Cairn.TortureTests.Workloads;

/// <summary>
/// The keys whose histories are recorded. They are few, so that workers collide. Some are in a collection, and some in one partition.
/// </summary>
internal sealed class WorkloadKeys
{
    public const string CollectionName = "collection";

    private readonly string[] _names;
    private readonly CairnCollection[] _collections;

    /// <summary>Creates the keys.</summary>
    /// <param name="store">The store.</param>
    /// <param name="count">The number of keys.</param>
    /// <param name="partition">The partition of all keys, which are then in the default collection; -1 for any partition.</param>
    public WorkloadKeys(CairnStore store, int count, int partition = -1)
    {
        CairnCollection collection = partition < 0 ? store.Collection(CollectionName) : store.DefaultCollection;
        Collections = partition < 0 ? [store.DefaultCollection, collection] : [store.DefaultCollection];
        _names =
        [
            .. Enumerable.Range(0, int.MaxValue).Select(i => $"key:{i}")
                .Where(name => partition < 0 || store.DefaultCollection.PartitionOf(name) == partition).Take(count),
        ];
        _collections = [.. Enumerable.Range(0, count).Select(key => key % 4 == 0 ? collection : store.DefaultCollection)];
    }

    public int Count => _names.Length;

    public IReadOnlyList<CairnCollection> Collections { get; }

    public string NameOf(int key) => _names[key];

    public CairnCollection CollectionOf(int key) => _collections[key];

    public IEnumerable<int> KeysOf(CairnCollection collection) =>
        Enumerable.Range(0, Count).Where(key => ReferenceEquals(_collections[key], collection));
}
