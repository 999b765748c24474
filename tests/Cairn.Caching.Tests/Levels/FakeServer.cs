using System.Collections.Concurrent;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Levels;

/// <summary>A server that several machines share, in this process: values, leases and messages of changes.</summary>
internal sealed class FakeServer
{
    private readonly Lock _gate = new();
    private readonly List<FakeMachine> _machines = [];

    public ConcurrentDictionary<string, byte[]> Values { get; } = new(StringComparer.Ordinal);

    public ConcurrentDictionary<string, string> Leases { get; } = new(StringComparer.Ordinal);

    /// <summary>Gets whether the server reports changes itself, as a server that tracks keys does, without a published message.</summary>
    public bool ReportsChanges { get; init; }

    /// <summary>Gets whether a change of a key ends its lease, and an acquisition checks for a value.</summary>
    public bool KnowsLeases { get; init; } = true;

    public FakeMachine Connect()
    {
        var machine = new FakeMachine(this);
        lock (_gate)
        {
            _machines.Add(machine);
        }

        return machine;
    }

    public void Change(FakeMachine by, string key, byte[]? value)
    {
        lock (_gate)
        {
            if (KnowsLeases)
            {
                Leases.TryRemove(key, out _);
            }

            Store(by, key, value);
        }
    }

    public CacheLeaseStatus TrySet(FakeMachine by, string key, string owner, byte[] value)
    {
        lock (_gate)
        {
            if (Leases.GetValueOrDefault(key) != owner)
            {
                return CacheLeaseStatus.Held;
            }

            Store(by, key, value);
            return CacheLeaseStatus.Acquired;
        }
    }

    public CacheLeaseStatus TryAcquire(string key, string owner, bool onlyIfMissing)
    {
        lock (_gate)
        {
            return KnowsLeases && onlyIfMissing && Values.ContainsKey(key) ? CacheLeaseStatus.HasValue
                : Leases.TryAdd(key, owner) ? CacheLeaseStatus.Acquired
                : CacheLeaseStatus.Held;
        }
    }

    public void Release(string key, string owner) => ((ICollection<KeyValuePair<string, string>>)Leases).Remove(new(key, owner));

    public void Tell(FakeMachine by, CacheChange change)
    {
        FakeMachine[] others;
        lock (_gate)
        {
            others = [.. _machines];
        }

        foreach (FakeMachine machine in others.Where(machine => !ReportsChanges || machine != by))
        {
            machine.Receive(change);
        }
    }

    private void Store(FakeMachine by, string key, byte[]? value)
    {
        if (value is null)
        {
            Values.TryRemove(key, out _);
        }
        else
        {
            Values[key] = value;
        }

        if (ReportsChanges)
        {
            Tell(by, new(key, IsPrefix: false, Guid.Empty));
        }
    }
}

/// <summary>A machine's connection to a <see cref="FakeServer"/>, as a Redis client would have it.</summary>
internal sealed class FakeMachine(FakeServer server) : IBufferDistributedCache, ICacheLeases, ICacheInvalidation
{
    private readonly ConcurrentDictionary<ICacheChangeReceiver, string> _receivers = new();

    /// <summary>Gets or sets whether messages reach this machine. If not, they are lost.</summary>
    public bool Hears { get; set; } = true;

    /// <summary>Gets or sets whether calls work. If not, they throw.</summary>
    public bool Works { get; set; } = true;

    /// <summary>Gets or sets whether publishing works. If not, it throws.</summary>
    public bool Publishes { get; set; } = true;

    /// <summary>Gets or sets the action before a value is set.</summary>
    public Action<string>? BeforeSet { get; set; }

    /// <summary>Gets or sets whether the replies to acquisitions of leases are lost.</summary>
    public bool LosesGrants { get; set; }

    public bool ChecksValue => server.KnowsLeases;

    public bool ChangesEndLeases => server.KnowsLeases;

    public bool ReportsChanges => server.ReportsChanges;

    public int Published { get; private set; }

    public int Renewals { get; private set; }

    public void Beat(TimeSpan age = default)
    {
        foreach (ICacheChangeReceiver receiver in _receivers.Keys)
        {
            receiver.OnHeartbeat(age);
        }
    }

    public void TellMissed()
    {
        foreach (ICacheChangeReceiver receiver in _receivers.Keys)
        {
            receiver.OnMissed();
        }
    }

    public void Receive(CacheChange change)
    {
        foreach ((ICacheChangeReceiver receiver, string prefix) in _receivers)
        {
            if (Hears && (change.IsPrefix || change.Key.StartsWith(prefix, StringComparison.Ordinal)))
            {
                receiver.OnChanged(change);
            }
        }
    }

    public ValueTask<bool> TryGetAsync(string key, System.Buffers.IBufferWriter<byte> destination, CancellationToken token = default)
    {
        Check();
        if (!server.Values.TryGetValue(key, out byte[]? value))
        {
            return new(false);
        }

        System.Buffers.BuffersExtensions.Write(destination, value);
        return new(true);
    }

    public ValueTask SetAsync(
        string key, System.Buffers.ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        Check();
        BeforeSet?.Invoke(key);
        server.Change(this, key, System.Buffers.BuffersExtensions.ToArray(value));
        return default;
    }

    public Task RemoveAsync(string key, CancellationToken token = default)
    {
        Check();
        server.Change(this, key, null);
        return Task.CompletedTask;
    }

    public ValueTask<CacheLeaseStatus> TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken)
    {
        Check();
        CacheLeaseStatus status = server.TryAcquire(key, owner, onlyIfMissing);
        return LosesGrants ? throw new IOException("The reply is lost.") : new(status);
    }

    public ValueTask<bool> TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken)
    {
        Check();
        Renewals++;
        return new(server.Leases.GetValueOrDefault(key) == owner);
    }

    public ValueTask ReleaseAsync(string key, string owner, CancellationToken cancellationToken)
    {
        Check();
        server.Release(key, owner);
        return default;
    }

    public ValueTask EndAsync(string key, CancellationToken cancellationToken)
    {
        Check();
        server.Leases.TryRemove(key, out _);
        return default;
    }

    public ValueTask<CacheLeaseStatus> TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken)
    {
        Check();
        BeforeSet?.Invoke(key);
        return new(server.KnowsLeases ? server.TrySet(this, key, owner, value.ToArray()) : CacheLeaseStatus.NotSupported);
    }

    public ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken)
    {
        Check();
        if (!Publishes)
        {
            throw new InvalidOperationException("The channel is out of order.");
        }

        Published++;
        server.Tell(this, change);
        return default;
    }

    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver)
    {
        _receivers[receiver] = keyPrefix;
        return new Subscription(this, receiver);
    }

    public bool TryGet(string key, System.Buffers.IBufferWriter<byte> destination) => throw new NotSupportedException();

    public void Set(string key, System.Buffers.ReadOnlySequence<byte> value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

    public byte[]? Get(string key) => throw new NotSupportedException();

    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => throw new NotSupportedException("There is a better way.");

    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => throw new NotSupportedException();

    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        throw new NotSupportedException("There is a better way.");

    public void Refresh(string key) => throw new NotSupportedException();

    public Task RefreshAsync(string key, CancellationToken token = default) => Task.CompletedTask;

    public void Remove(string key) => throw new NotSupportedException();

    private void Check()
    {
        if (!Works)
        {
            throw new InvalidOperationException("The server is out of reach.");
        }
    }

    private sealed class Subscription(FakeMachine machine, ICacheChangeReceiver receiver) : IDisposable
    {
        public void Dispose() => machine._receivers.TryRemove(receiver, out _);
    }
}
