using System.Collections.Concurrent;
using Cairn.Eviction;

namespace Cairn;

// The values that this process removes from the maps of a store, for the handlers of PersistentMap.EntryRemoved.
//
// The engine reports expirations and evictions under a partition's lock, where no code of an application may run. So each removal is queued, and one thread
// of the pool at a time calls the handlers, in the order of the queue.
internal sealed class MapRemovals : IEntryObserver
{
    private readonly Lock _changing = new();
    private readonly ConcurrentQueue<(uint Collection, byte[] Key, MapRemovalReason Reason)> _queue = new();
    private int _isDelivering;

    // Replaced as a whole, so that readers need no lock.
    private volatile Dictionary<uint, Action<byte[], MapRemovalReason>> _handlers = [];

    public bool HasHandler(uint collection) => _handlers.ContainsKey(collection);

    public void Add(uint collection, Action<byte[], MapRemovalReason> handler) => Change(collection, present => present + handler);

    public void Remove(uint collection, Action<byte[], MapRemovalReason> handler) => Change(collection, present => present - handler);

    void IEntryObserver.OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure)
    {
        if (HasHandler(collection))
        {
            Report(collection, key.ToArray(), departure == EntryDeparture.Expired ? MapRemovalReason.Expired : MapRemovalReason.Evicted);
        }
    }

    public void Report(uint collection, byte[] key, MapRemovalReason reason)
    {
        _queue.Enqueue((collection, key, reason));

        // Full fence; pairs with the exchange at the end of Deliver. Either that thread sees the new element, or this one sees that it has ended.
        if (Interlocked.Exchange(ref _isDelivering, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static removals => removals.Deliver(), this, preferLocal: false);
        }
    }

    private void Deliver()
    {
        do
        {
            while (_queue.TryDequeue(out (uint Collection, byte[] Key, MapRemovalReason Reason) removal))
            {
                if (_handlers.TryGetValue(removal.Collection, out Action<byte[], MapRemovalReason>? handler))
                {
                    handler(removal.Key, removal.Reason);
                }
            }

            Interlocked.Exchange(ref _isDelivering, 0);
        }
        while (!_queue.IsEmpty && Interlocked.Exchange(ref _isDelivering, 1) == 0);
    }

    private void Change(uint collection, Func<Action<byte[], MapRemovalReason>?, Action<byte[], MapRemovalReason>?> change)
    {
        lock (_changing)
        {
            var handlers = new Dictionary<uint, Action<byte[], MapRemovalReason>>(_handlers);
            if (change(handlers.GetValueOrDefault(collection)) is { } changed)
            {
                handlers[collection] = changed;
            }
            else
            {
                handlers.Remove(collection);
            }

            _handlers = handlers;
        }
    }
}
