namespace Cairn.Caching.Stores;

/// <summary>A store that a cache uses, and what is to be done when it no longer does. Disposing it again does nothing.</summary>
internal sealed class StoreHandle(CairnStore store, Action? giveBack) : IDisposable
{
    private Action? _giveBack = giveBack;

    public CairnStore Store { get; } = store;

    /// <summary>A store that the application opened, and closes itself.</summary>
    public static StoreHandle Borrow(CairnStore store) => new(store, giveBack: null);

    /// <summary>A store that goes with its handle.</summary>
    public static StoreHandle Own(CairnStore store) => new(store, store.Dispose);

    public void Dispose() => Interlocked.Exchange(ref _giveBack, null)?.Invoke();
}
