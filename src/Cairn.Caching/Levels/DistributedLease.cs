namespace Cairn.Caching.Levels;

// A lease on a key of an IDistributedCache. It always applies within this process, and across machines if the server has leases and
// answered. The part on the server is renewed while its owner lives, so it ends soon after a process that dies.
internal sealed class DistributedLease(DistributedBackend backend, string key, ulong hash) : LocalLease(key, hash), ILevelLease
{
    private ServerPart? _server;
    private volatile bool _isLost;
    private int _isDisposed;

    /// <summary>The owner text on the server; null if the server does not have the lease.</summary>
    public string? Owner => _server?.Owner;

    /// <summary>The era at the acquisition; 0 if it was not known. Set before the lease is handed out.</summary>
    public ulong Era { get; set; }

    /// <summary>
    /// True if the server has leases but did not answer, so that changes of other machines may not be noticed for a while. Set before the lease
    /// is handed out.
    /// </summary>
    public bool IsUnasked { get; set; }

    /// <summary>
    /// Set to true by a holder that keeps what it writes in its first level, by <see cref="Coherence.ChannelCoherence.TryKeepWritten"/>. A write that
    /// is done when <see cref="SecondLevel.WriteAsync"/> returns is then not reported to that first level. A later one is, and sets this to false.
    /// </summary>
    public bool IsKeptByHolder { get; set; }

    /// <summary>True from the grant of the server until the lease is lost or released, as far as this process knows.</summary>
    public bool IsOnServer => Owner is not null && !_isLost && Volatile.Read(ref _isDisposed) == 0;

    /// <summary>Records that the server has granted its part, and renews it from now on.</summary>
    public void BeginOnServer(string owner, DistributedLevelOptions options)
    {
        TimeSpan interval = options.LeaseDuration / 3;
        _server = new(owner, options, options.Clock.CreateTimer(
            static lease => _ = ((DistributedLease)lease!).RenewAsync(), this, interval, interval));
    }

    public void Lose()
    {
        _isLost = true;
        backend.Pending.Release(this);
    }

    public ValueTask DisposeAsync()
    {
        if (_server is { } server)
        {
            return Interlocked.Exchange(ref _isDisposed, 1) == 0 ? LeaveServerAsync(server) : default;
        }

        backend.Pending.Release(this); // Without effect the second time.
        return default;
    }

    // The server's part is released first: the next waiter in this process then finds it free.
    private async ValueTask LeaveServerAsync(ServerPart server)
    {
        await server.Timer.DisposeAsync().ConfigureAwait(false);
        CallResult<bool> released = await backend.Leases!.ReleaseAsync(Key, server.Owner, server.Options.WriteTimeout).ConfigureAwait(false);
        if (!released.IsDone)
        {
            _ = backend.Leases.GiveBackAsync(Key, server.Owner, server.Options, late: null);
        }

        backend.Pending.Release(this);
    }

    private async Task RenewAsync()
    {
        // The timer's first call may come before the field is visible.
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
