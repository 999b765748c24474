namespace Cairn.Caching.Stores;

/// <summary>A store that a cache uses, with the action that releases it. A second disposal has no effect.</summary>
internal sealed class StoreHandle(CairnStore store, Action? giveBack) : IDisposable
{
    private Action? _giveBack = giveBack;

    public CairnStore Store { get; } = store;

    /// <summary>Creates a handle to a store that the application has opened and closes itself.</summary>
    public static StoreHandle Borrow(CairnStore store) => new(store, giveBack: null);

    /// <summary>Creates a handle that closes the store.</summary>
    public static StoreHandle Own(CairnStore store) => new(store, store.Dispose);

    public void Dispose() => Interlocked.Exchange(ref _giveBack, null)?.Invoke();
}
