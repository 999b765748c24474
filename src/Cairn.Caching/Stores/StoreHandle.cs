using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching.Stores;

/// <summary>A store that a cache uses, with the action that releases it. A second disposal has no effect.</summary>
internal sealed partial class StoreHandle(CairnStore store, Action? giveBack) : IDisposable
{
    private Action? _giveBack = giveBack;
    private Action<string>? _receiver;

    public CairnStore Store { get; } = store;

    /// <summary>Creates a handle to a store that the application has opened and closes itself.</summary>
    public static StoreHandle Borrow(CairnStore store) => new(store, giveBack: null);

    /// <summary>Creates a handle that closes the store.</summary>
    public static StoreHandle Own(CairnStore store) => new(store, store.Dispose);

    /// <summary>Logs failures of the store's work in the background until this handle is disposed. The store limits their number.</summary>
    public void LogFailures(ILogger? logger)
    {
        if (logger is not (null or NullLogger))
        {
            _receiver = failure => LogFailed(logger, Store.Path, failure);
            Store.Engine.Failures.Add(_receiver);
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _receiver, null) is { } receiver)
        {
            Store.Engine.Failures.Remove(receiver);
        }

        Interlocked.Exchange(ref _giveBack, null)?.Invoke();
    }

    [LoggerMessage(EventId = 102, EventName = "StoreWorkFailed", Level = LogLevel.Warning, Message = "The store '{Path}': {Failure}")]
    private static partial void LogFailed(ILogger logger, string path, string failure);
}
