namespace Cairn.Caching.Levels;

// A lease on a key of an IDistributedCache: always within this process, and among machines if the server has leases and could be
// asked. The part on the server is renewed while the owner lives, so it lasts little longer than a process that dies.
internal sealed class DistributedLease(DistributedBackend backend, string key) : LocalLease(key), ILevelLease
{
    private ServerPart? _server;
    private volatile bool _isLost;
    private int _isDisposed;

    /// <summary>How the server knows the owner; null if it does not have the lease.</summary>
    public string? Owner => _server?.Owner;

    /// <summary>The era at the time; 0 if it was not known. Set before the lease is handed out.</summary>
    public ulong Era { get; set; }

    /// <summary>True if the server, which has leases, could not be asked, and changes on other machines may go unheard for a while. Set likewise.</summary>
    public bool IsUnasked { get; set; }

    /// <summary>True from when the server gave it until it is lost or given back, as far as is known here.</summary>
    public bool IsOnServer => Owner is not null && !_isLost && Volatile.Read(ref _isDisposed) == 0;

    /// <summary>The server has given its part, which is renewed from now on.</summary>
    public void BeginOnServer(string owner, DistributedLevelOptions options)
    {
        TimeSpan interval = options.LeaseDuration / 3;
        _server = new(owner, options, options.Clock.CreateTimer(
            static lease => _ = ((DistributedLease)lease!).RenewAsync(), this, interval, interval));
    }

    public void Lose()
    {
        _isLost = true;
        backend.Ledger.Release(this);
    }

    public ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return default;
        }

        if (_server is { } server)
        {
            return LeaveServerAsync(server);
        }

        backend.Ledger.Release(this);
        return default;
    }

    // The server's part first: who waits in this process then finds it free.
    private async ValueTask LeaveServerAsync(ServerPart server)
    {
        await server.Timer.DisposeAsync().ConfigureAwait(false);
        await backend.Leases!.ReleaseAsync(Key, server.Owner, server.Options.WriteTimeout).ConfigureAwait(false);
        backend.Ledger.Release(this);
    }

    private async Task RenewAsync()
    {
        // Its first call may come before the field is seen.
        if (_server is not { } server)
        {
            return;
        }

        CallResult<bool> renewed = await backend.Leases!
            .TryRenewAsync(Key, server.Owner, server.Options.LeaseDuration, server.Options.WriteTimeout).ConfigureAwait(false);
        if (renewed is { IsDone: true, Value: false } && Volatile.Read(ref _isDisposed) == 0)
        {
            Lose();
        }
    }

    private sealed record ServerPart(string Owner, DistributedLevelOptions Options, ITimer Timer);
}
