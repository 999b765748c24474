namespace Cairn.Tests;

/// <summary>A test of one small store, created on first use, with a clock that the test moves.</summary>
public abstract class StoreTest : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly List<CairnStore> _opened = [];
    private CairnStore? _store;

    private protected ManualClock Clock { get; } = new();

    private protected string FilePath => _directory.FilePath;

    private protected string DirectoryPath => _directory.Path;

    private protected StoreOptions Options => _directory.Options with { TimeProvider = Clock };

    private protected CairnStore Store => _store ??= Open(Options);

    /// <summary>Gets the default collection of <see cref="Store"/>.</summary>
    private protected CairnCollection Cache => Store.DefaultCollection;

    public void Dispose()
    {
        DisposeMore();
        foreach (CairnStore store in _opened)
        {
            store.Dispose();
        }

        _directory.Dispose();
    }

    private protected virtual void DisposeMore()
    {
    }

    private protected string PathOf(string name) => _directory[name];

    /// <summary>Opens a store and closes it at the end of the test unless the test has closed it.</summary>
    private protected CairnStore Open(StoreOptions options)
    {
        CairnStore store = CairnStore.Open(options);
        _opened.Add(store);
        return store;
    }

    private protected CairnStore OpenAgain() => Open(Options);
}
