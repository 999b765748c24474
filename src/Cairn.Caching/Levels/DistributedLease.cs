namespace Cairn.Caching.Levels;

// A lease on a key of an IDistributedCache: always within this process, and among machines if the server has leases and could be
// asked. The part on the server is renewed while the owner lives, so it lasts little longer than a process that dies.
internal sealed class DistributedLease : ILevelLease
{
    private readonly DistributedBackend _backend;
    private readonly DistributedLevelOptions _options;
    private readonly ITimer? _timer;
    private volatile bool _isLost;
    private int _isDisposed;

    public DistributedLease(DistributedBackend backend, DistributedLevelOptions options, LocalLease local, string? owner, ulong era)
    {
        _backend = backend;
        _options = options;
        Local = local;
        Owner = owner;
        Era = era;
        if (owner is not null)
        {
            TimeSpan interval = options.LeaseDuration / 3;
            _timer = options.Clock.CreateTimer(static lease => _ = ((DistributedLease)lease!).RenewAsync(), this, interval, interval);
        }
    }

    public LocalLease Local { get; }

    /// <summary>How the server knows the owner; null if it does not have the lease.</summary>
    public string? Owner { get; }

    /// <summary>The era at the time; 0 if it was not known.</summary>
    public ulong Era { get; }

    /// <summary>True if the server, which has leases, could not be asked, and changes on other machines may go unheard for a while.</summary>
    public bool IsUnasked { get; init; }

    public bool IsHeld => !_isLost && Local.IsHeld;

    /// <summary>True from when the server gave it until it is lost or given back, as far as is known here.</summary>
    public bool IsOnServer => Owner is not null && !_isLost && Volatile.Read(ref _isDisposed) == 0;

    public void Lose()
    {
        _isLost = true;
        _backend.Ledger.Release(Local);
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return;
        }

        if (_timer is not null)
        {
            await _timer.DisposeAsync().ConfigureAwait(false);
        }

        // The server's part first: who waits in this process then finds it free.
        if (Owner is not null)
        {
            await _backend.Leases!.ReleaseAsync(Local.Key, Owner, _options.WriteTimeout).ConfigureAwait(false);
        }

        _backend.Ledger.Release(Local);
    }

    private async Task RenewAsync()
    {
        CallResult<bool> renewed = await _backend.Leases!
            .TryRenewAsync(Local.Key, Owner!, _options.LeaseDuration, _options.WriteTimeout).ConfigureAwait(false);
        if (renewed is { IsDone: true, Value: false } && Volatile.Read(ref _isDisposed) == 0)
        {
            Lose();
        }
    }
}
