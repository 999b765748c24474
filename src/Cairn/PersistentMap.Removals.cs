namespace Cairn;

// Reports of values that left the map.
public sealed partial class PersistentMap<TKey, TValue>
{
    private readonly Dictionary<EventHandler<MapRemovedEventArgs<TKey>>, Stack<Action<byte[], MapRemovalReason>>> _removalHandlers = [];

    /// <summary>
    /// Occurs after this process has removed a value: by a call of any of its objects of this map, or because the value expired or its room was needed. What
    /// other processes remove, and what transactions change, is not reported.
    /// </summary>
    /// <remarks>
    /// Handlers run on a thread of the pool, one removal after the other, after the removal. Exceptions of a handler are unhandled and end the process. While
    /// there is a handler, each write first reads whether there is a value, and one write of several to one key at the same time can start over. In an encrypted
    /// store only <see cref="MapRemovalReason.Removed"/> and <see cref="MapRemovalReason.Replaced"/> are reported, because the store expires and evicts
    /// entries without decrypting their keys.
    /// </remarks>
    public event EventHandler<MapRemovedEventArgs<TKey>> EntryRemoved
    {
        add
        {
            ArgumentNullException.ThrowIfNull(value);
            Action<byte[], MapRemovalReason> handler = (key, reason) => value(this, new MapRemovedEventArgs<TKey>(_keys.Read(key), reason));
            lock (_removalHandlers)
            {
                if (!_removalHandlers.TryGetValue(value, out Stack<Action<byte[], MapRemovalReason>>? handlers))
                {
                    _removalHandlers[value] = handlers = [];
                }

                handlers.Push(handler);
            }

            _store.ReportRemovals().Add(_collection.Number, handler);
        }

        remove
        {
            lock (_removalHandlers)
            {
                if (_removalHandlers.TryGetValue(value, out Stack<Action<byte[], MapRemovalReason>>? handlers) && handlers.TryPop(out Action<byte[], MapRemovalReason>? handler))
                {
                    _store.ReportRemovals().Remove(_collection.Number, handler);
                }
            }
        }
    }

    private bool ReportsRemovals
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _store.Removals is { } removals && removals.HasHandler(_collection.Number);
    }

    private void Report(TKey key, MapRemovalReason reason)
    {
        if (ReportsRemovals)
        {
            _store.Removals!.Report(_collection.Number, KeyBytes(key), reason);
        }
    }

    // Knows exactly whether it replaced a value, also if others write at the same time.
    private void SetAndReport(TKey key, TValue value, Expiration expiration)
    {
        while (true)
        {
            bool isFound = TryGetAny(key, out _, out ulong version);
            WriteStatus status = Write(key, value, expiration, version);
            if (status == WriteStatus.Stored)
            {
                if (isFound)
                {
                    Report(key, MapRemovalReason.Replaced);
                }

                return;
            }

            if (status is not (WriteStatus.Exists or WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                if (_isKept)
                {
                    throw NotDone(status);
                }

                return;
            }
        }
    }
}
