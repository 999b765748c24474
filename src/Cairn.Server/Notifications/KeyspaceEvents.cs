using Cairn.Engine;
using Cairn.Eviction;
using Cairn.Keys;
using Cairn.Server.Pinning;

namespace Cairn.Server.Notifications;

/// <summary>Receives the key of an entry that was evicted.</summary>
internal delegate void EvictionHandler(ReadOnlySpan<byte> key);

/// <summary>Receives a key that a command read, and the length of its value if it was found.</summary>
internal delegate void ReadHandler(ReadOnlySpan<byte> key, bool isFound, int valueBytes);

// Keyspace events, as notify-keyspace-events of Redis, for the changes that this server makes:
//
//   a command of either protocol changed a key  -- Notify -->                       channels
//   the same, and an event has many receivers   -- Notify --> waiting -- thread pool --> channels
//   the store expired or evicted a key          -- OnDeparted --> waiting -- drain --> channels
//
//   I1  While no class is on, a change costs one read and one branch, and the store has no observer.
//   I2  OnDeparted runs under a partition lock. It copies the key and takes only _waitingLock. No other lock is taken under that.
//   I3  Events are sent under _sendLock, the waiting ones first. So a client that changes keys one after another sees their events in
//       that order. The events of entries that a change evicted or found expired come before the change's own event.
//   I4  At most MostWaiting events wait, with keys of at most MostWaitingBytes. Further ones are discarded and counted, because a
//       change cannot wait for the receivers of its event.
//   I5  A worker sends few events at once, and none that takes long: a command can change 65,536 keys, and clients can subscribe to
//       millions of patterns. The thread pool sends the others, one at a time, so a worker waits for one of them at most.
//
// Only keys that clients see have events: those of collection 0, and pinned ones. Changes by other processes are known by hash only, so they have
// no events.
internal sealed class KeyspaceEvents(CairnStore? store, IEventChannel? channel, PinnedKeys? pinned = null) : IEntryObserver, IThreadPoolWorkItem
{
    /// <summary>The maximum number of events that wait to be sent.</summary>
    public const int MostWaiting = 65_536;

    /// <summary>The maximum number of bytes of their keys. A key may have 64 KiB, so a limit of the number alone would allow 4
    /// GiB.</summary>
    public const int MostWaitingBytes = 16 << 20;

    /// <summary>The maximum number of patterns and receivers of an event that a worker sends (I5).</summary>
    public const int MostReceiversAtOnce = 64;

    private const int MostEventsAtOnce = 1024;
    private const int KeptChannelBytes = 4 << 10;

    private readonly Lock _sendLock = new();
    private readonly Lock _waitingLock = new();
    private readonly Queue<WaitingEvent> _waiting = new();
    private volatile EvictionHandler? _evictions;
    private volatile ReadHandler? _reads;
    private volatile EventClasses _active; // None unless a form is on.
    private volatile int _waitingCount;
    private int _waitingBytes; // Requires _waitingLock.
    private EventClasses _classes;
    private bool _isScheduled;
    private long _dropped;
    private byte[] _channelName = new byte[256];

    /// <summary>Gets the events of servers that send none. They cannot be switched on.</summary>
    public static KeyspaceEvents Off { get; } = new(null, null);

    /// <summary>Gets the number of events that were not sent because too many waited (I4).</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    /// <summary>Gets or sets the classes that are sent. Thread-safe.</summary>
    public EventClasses Classes
    {
        get => _classes;
        set
        {
            StoreEngine engine = store?.Engine ?? throw new InvalidOperationException("Events cannot be switched on without a store.");
            lock (_sendLock)
            {
                _classes = value;
                _active = (value & EventClasses.Forms) != 0 ? value : EventClasses.None;
                Observe(engine);
            }
        }
    }

    /// <summary>Sets the receiver of evicted keys in addition to the subscribers; null for none. Has no effect without a store.</summary>
    public void WatchEvictions(EvictionHandler? handler)
    {
        if (store?.Engine is { } engine)
        {
            lock (_sendLock)
            {
                _evictions = handler;
                Observe(engine);
            }
        }
    }

    /// <summary>Gets or sets the receiver of the keys that commands of RESP read; null for none. Thread-safe.</summary>
    public ReadHandler? Reads
    {
        get => _reads;
        set => _reads = value;
    }

    /// <summary>Gets whether the store reports the entries that expire or are evicted.</summary>
    public bool IsObserving => store?.Engine.Observer == this;

    /// <summary>Gets whether any event is sent.</summary>
    public bool IsOn => _active != EventClasses.None;

    /// <summary>Sends an event, if its class is on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Notify(EventClasses type, ReadOnlySpan<byte> name, ReadOnlySpan<byte> key)
    {
        if (IsSent(type))
        {
            Send(type, name, key);
        }
    }

    /// <summary>Writes as <see cref="StoreEngine.Write"/> does. If the key did not exist, its first event is <c>new</c>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WriteStatus Write(
        StoreEngine target, in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version) =>
        IsSent(EventClasses.New)
            ? WriteNoticingNew(target, key, content, condition, expectedVersion, out version)
            : target.Write(key, content, condition, expectedVersion, out version);

    /// <summary>Handles a read that found no value. An expired entry is removed now, as in Redis, so that its event is sent.</summary>
    public void OnMiss(StoreEngine target, in KeyRef key)
    {
        if (IsSent(EventClasses.Expired))
        {
            // The entry may already have been retracted when the miss was counted.
            target.TryExpire(key);
            SendWaiting();
        }
    }

    /// <summary>Sends waiting events (I3, I5).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void SendWaiting()
    {
        if (_waitingCount != 0)
        {
            Drain();
        }
    }

    void IEntryObserver.OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure)
    {
        EventClasses type = departure == EntryDeparture.Expired ? EventClasses.Expired : EventClasses.Evicted;
        if ((pinned ?? PinnedKeys.None).Shows(collection) && (IsSent(type) || (type == EventClasses.Evicted && _evictions is not null)))
        {
            AddWaiting(key, type, type == EventClasses.Expired ? "expired"u8 : "evicted"u8);
        }
    }

    /// <summary>Adds an event to the waiting ones (I2, I4).</summary>
    public void AddWaiting(ReadOnlySpan<byte> key, EventClasses type, ReadOnlySpan<byte> name)
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent(key.Length);
        key.CopyTo(copy);
        bool isFirst;
        lock (_waitingLock)
        {
            if (_waiting.Count >= MostWaiting || _waitingBytes + key.Length > MostWaitingBytes)
            {
                Interlocked.Increment(ref _dropped);
                ArrayPool<byte>.Shared.Return(copy);
                return;
            }

            _waiting.Enqueue(new WaitingEvent(copy, key.Length, type, name.ToArray()));
            _waitingBytes += key.Length;
            _waitingCount = _waiting.Count;
            isFirst = !_isScheduled;
            _isScheduled = true;
        }

        if (isFirst)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        lock (_waitingLock)
        {
            _isScheduled = false;
        }

        while (_waitingCount != 0)
        {
            lock (_sendLock)
            {
                SendWaiting(1);
            }
        }
    }

    private bool IsSent(EventClasses type) => (_active & type) != 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WriteStatus WriteNoticingNew(
        StoreEngine target, in KeyRef key, in EntryContent content, WriteCondition condition, ulong expectedVersion, out ulong version)
    {
        WriteStatus status;
        bool isNew = false;
        do
        {
            // An unconditional write becomes two conditional ones. The one that succeeds shows whether the key existed.
            status = target.Write(key, content, condition == WriteCondition.Always ? WriteCondition.IfPresent : condition, expectedVersion, out version);
            if (condition == WriteCondition.Always && status == WriteStatus.NotFound)
            {
                status = target.Write(key, content, WriteCondition.IfAbsent, 0, out version);
                isNew = status == WriteStatus.Stored;
            }
        }
        while (condition == WriteCondition.Always && status == WriteStatus.Exists);

        if (condition == WriteCondition.Always && status != WriteStatus.Stored)
        {
            return target.Write(key, content, condition, expectedVersion, out version); // This also retracts the old value.
        }

        if (isNew || (condition == WriteCondition.IfAbsent && status == WriteStatus.Stored))
        {
            NotifyNew(key);
        }

        return status;
    }

    private unsafe void NotifyNew(in KeyRef key) => Notify(EventClasses.New, "new"u8, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Send(EventClasses type, ReadOnlySpan<byte> name, ReadOnlySpan<byte> key)
    {
        if (IsQuick)
        {
            lock (_sendLock)
            {
                SendWaiting(MostEventsAtOnce);
                if (_waitingCount == 0)
                {
                    SendOne(name, key);
                    return;
                }
            }
        }

        AddWaiting(key, type, name);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Drain()
    {
        if (IsQuick)
        {
            lock (_sendLock)
            {
                SendWaiting(MostEventsAtOnce);
            }
        }
    }

    // Returns whether a worker may send an event itself (I5).
    private bool IsQuick => channel is null || channel.Cost <= MostReceiversAtOnce;

    private void SendWaiting(int most)
    {
        while (_waitingCount != 0 && most-- > 0)
        {
            WaitingEvent next;
            lock (_waitingLock)
            {
                if (!_waiting.TryDequeue(out next))
                {
                    _waitingCount = 0;
                    return;
                }

                _waitingBytes -= next.Length;
            }

            if (IsSent(next.Type))
            {
                SendOne(next.Name, next.Key.AsSpan(0, next.Length));
            }

            if (next.Type == EventClasses.Evicted)
            {
                _evictions?.Invoke(next.Key.AsSpan(0, next.Length));
            }

            ArrayPool<byte>.Shared.Return(next.Key);
            lock (_waitingLock)
            {
                _waitingCount = _waiting.Count; // Not before the event is sent: a worker that sees 0 replies to the client that caused it.
            }
        }
    }

    // The store reports departures only while they are wanted (I1).
    private void Observe(StoreEngine engine) =>
        engine.Observer = IsSent(EventClasses.Expired | EventClasses.Evicted) || _evictions is not null ? this : null;

    private void SendOne(ReadOnlySpan<byte> name, ReadOnlySpan<byte> key)
    {
        if (IsSent(EventClasses.Keyspace))
        {
            channel!.Send(key, ChannelOf("__keyspace@0__:"u8, key), name);
        }

        if (IsSent(EventClasses.Keyevent))
        {
            channel!.Send(key, ChannelOf("__keyevent@0__:"u8, name), key);
        }
    }

    // Returns the name of a channel, valid until the next call.
    private ReadOnlySpan<byte> ChannelOf(ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> rest)
    {
        int length = prefix.Length + rest.Length;
        if (_channelName.Length < length || (_channelName.Length > KeptChannelBytes && length <= KeptChannelBytes))
        {
            _channelName = new byte[Math.Max(length, KeptChannelBytes)];
        }

        prefix.CopyTo(_channelName);
        rest.CopyTo(_channelName.AsSpan(prefix.Length));
        return _channelName.AsSpan(0, length);
    }

    private readonly record struct WaitingEvent(byte[] Key, int Length, EventClasses Type, byte[] Name);
}
