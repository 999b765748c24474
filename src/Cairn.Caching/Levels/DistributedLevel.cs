using System.Buffers;
using Cairn.Caching.Coherence;
using Cairn.Caching.Tagging;
using Cairn.Keys;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Levels;

// Any IDistributedCache as second level. What can go wrong with it, and what is then done, is told in BoundedCalls (code that
// throws or hangs), CircuitBreaker, ChangeLedger (changes that failed) and DistributedRecords (what is lost or damaged).
//
//   I1  A change is told to all first levels of this process before it is acknowledged, done or owed.
//   I2  A write that ends as Done or as Failed counts as one change of its key for ICoherence.TryKeep (ChangesOf).
//   I3  A value that was made of what other machines may have changed since is not written: with the lease of a server the server knows
//       whether they did; with a lease within this process, this does as long as it hears of others.
internal sealed class DistributedLevel : SecondLevel
{
    private const int ReadsAtOnce = 32;
    private const long FirstPollMs = 20;
    private const long LongestPollMs = 250;

    private readonly DistributedLevelOptions _options;
    private readonly DistributedBackend _backend;
    private readonly ChannelCoherence _coherence;
    private int _isDisposed;

    /// <summary>Opens it.</summary>
    /// <param name="cache">Whose it is stays the caller's.</param>
    /// <param name="leases">Leases registered beside it; null to take the cache itself if it has them.</param>
    /// <param name="channel">Invalidation registered beside it; null to take the cache itself if it has it.</param>
    /// <param name="options">Those of the first of the same cache and name count for calls that are done later.</param>
    /// <param name="logger">Is told of trouble.</param>
    public DistributedLevel(
        IDistributedCache cache, ICacheLeases? leases, ICacheInvalidation? channel, DistributedLevelOptions options, ILogger logger)
    {
        _options = options;
        _backend = DistributedBackend.Of(cache, leases, channel, options, logger);
        _coherence = new(_backend.Hub);
        _backend.Hub.Attach(_coherence);
    }

    public override KeyHasher Hasher => _backend.Hasher;

    public override KeyHasher TagHasher => _backend.TagHasher;

    public override int MaxKeyBytes => _options.MaxKeyBytes;

    public override long MaxValueBytes => _options.MaxValueBytes;

    public override ICoherence Coherence => _coherence;

    public override bool HasLeases => true;

    public override LevelHealth Health => new()
    {
        Failures = Counters.Failures + Counters.Damaged,
        Timeouts = Counters.Timeouts,
        Refused = Counters.Refused,
        OwedChanges = OwedChanges,
        IsBroken = _backend.Breaker.IsOpen,
        IsCutOff = _backend.Hearing.IsCutOff,
    };

    public LevelCounters Counters => _backend.Counters;

    /// <summary>Changes that the second level does not have yet.</summary>
    public int OwedChanges => _backend.Ledger.OwedCount;

    /// <summary>True while the second level is left alone because it kept failing.</summary>
    public bool IsBroken => _backend.Breaker.IsOpen;

    /// <summary>False while a channel that there is does not bring changes.</summary>
    public bool IsConnected => _backend.Hub.IsTrusted;

    public override int ChangesOf(LevelStatus change) => change is LevelStatus.Done or LevelStatus.Failed ? 1 : 0;

    public override async ValueTask<LevelStatus> ReadAsync(
        string key, ulong hash, IBufferWriter<byte> target, CancellationToken cancellationToken)
    {
        string text = _backend.Records.ValueKey(key);
        var deadline = new Deadline(_options.ReadTimeout, _options.Clock);
        if (_backend.Ledger.TryRead(text, out PendingChange? owed))
        {
            if (owed is not { Kind: ChangeKind.Write } || _backend.Expiry(owed.Expiration) is null)
            {
                return LevelStatus.Miss;
            }

            return DistributedRecords.EraOf(owed.Record) == _backend.KnownEra ? Found(owed.Record, target) : LevelStatus.Miss;
        }

        ulong era = await _backend.GetEraAsync(mustAsk: false, deadline, cancellationToken).ConfigureAwait(false);
        if (era == 0)
        {
            return LevelStatus.Failed;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await _backend.ReadAsync(text, deadline.Left, cancellationToken).ConfigureAwait(false);
        if (result.Status != CallStatus.Done)
        {
            return LevelStatus.Failed;
        }

        if (result.Value is not { } record)
        {
            return LevelStatus.Miss;
        }

        ulong eraOfRecord = DistributedRecords.EraOf(record.Span);
        if (eraOfRecord == 0)
        {
            _backend.CountDamaged(text);
            return LevelStatus.Miss;
        }

        // Of another era: perhaps a newer one, of which this process has not heard.
        bool isCurrent = eraOfRecord == era
            || eraOfRecord == await _backend.GetEraAsync(mustAsk: true, deadline, cancellationToken).ConfigureAwait(false);
        return isCurrent ? Found(record.Span, target) : LevelStatus.Miss;
    }

    public override async ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses, CancellationToken cancellationToken)
    {
        int next = -1;
        var readers = new Task[Math.Min(ReadsAtOnce, keys.Length)];
        for (int i = 0; i < readers.Length; i++)
        {
            readers[i] = ReadNextAsync();
        }

        await Task.WhenAll(readers).ConfigureAwait(false);

        async Task ReadNextAsync()
        {
            for (int at = Interlocked.Increment(ref next); at < keys.Length; at = Interlocked.Increment(ref next))
            {
                statuses[at] = await ReadAsync(keys.Span[at], hashes.Span[at], targets[at], cancellationToken).ConfigureAwait(false);
            }
        }
    }

    public override async ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease, CancellationToken cancellationToken)
    {
        var held = (DistributedLease?)lease;
        if (held is { IsHeld: false })
        {
            return LevelStatus.LeaseLost;
        }

        string text = _backend.Records.ValueKey(key);
        var deadline = new Deadline(_options.WriteTimeout, _options.Clock);
        ulong era = _backend.KnownEra is var known and not 0
            ? known
            : await _backend.GetEraAsync(mustAsk: false, deadline, cancellationToken).ConfigureAwait(false);
        if (held is not null && held.Era != 0 && era != 0 && held.Era != era)
        {
            held.Lose();
            return LevelStatus.LeaseLost;
        }

        LevelStatus status = LevelStatus.Failed;
        try
        {
            if (era == 0)
            {
                // It cannot be said of which era it is. What was there before is removed, when that is possible.
                status = await _backend.Ledger.ApplyAsync(text, new PendingChange(ChangeKind.Remove), held?.Local, deadline.Left, cancellationToken).ConfigureAwait(false);
                return status = status == LevelStatus.LeaseLost ? status : LevelStatus.Failed;
            }

            if (held is { Owner: null } && (held.IsUnasked || !_backend.Hearing.IsTrusted))
            {
                return status; // I3
            }

            byte[] record = DistributedRecords.Value(era, envelope.Span);
            if (held?.Owner is not null && _backend.Expiry(expiration) is { } expiry)
            {
                LevelStatus? conditional = await WriteIfLeasedAsync(text, held, record, expiry, deadline, cancellationToken).ConfigureAwait(false);
                if (conditional is not null)
                {
                    return status = conditional.Value;
                }
            }

            var change = new PendingChange(ChangeKind.Write) { Record = record, Expiration = expiration, Holder = held };
            return status = await _backend.Ledger.ApplyAsync(text, change, held?.Local, deadline.Left, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            if (status != LevelStatus.LeaseLost)
            {
                _backend.Hub.Tell(hash);
            }
        }
    }

    public override ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, CancellationToken cancellationToken) =>
        ChangeAsync(_backend.Records.ValueKey(key), hash, new PendingChange(ChangeKind.Remove), cancellationToken);

    public override async ValueTask<LevelStatus> TouchAsync(string key, ulong hash, LevelExpiration expiration, CancellationToken cancellationToken) =>
        await _backend.RefreshAsync(_backend.Records.ValueKey(key), cancellationToken).ConfigureAwait(false) ? LevelStatus.Done : LevelStatus.Failed;

    public override async ValueTask<LeaseResult> AcquireLeaseAsync(
        string key, ulong hash, bool replacesStale, TimeSpan wait, CancellationToken cancellationToken)
    {
        var request = new LeaseRequest(_backend.Records.ValueKey(key), replacesStale, wait, _options.Clock);
        LocalLease? local;
        while (!_backend.Ledger.TryAcquire(request.Key, out local, out LocalLease? other))
        {
            request.HasWaited = true;
            TimeSpan left = request.Left;
            if (left <= TimeSpan.Zero)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }

            try
            {
                await other.WaitForEndAsync(left, _options.Clock, cancellationToken).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }
        }

        LeaseResult result = default;
        try
        {
            result = await CompleteLeaseAsync(request, local, cancellationToken).ConfigureAwait(false);
            return result;
        }
        finally
        {
            if (result.Lease is null)
            {
                _backend.Ledger.Release(local);
            }
        }
    }

    public override async ValueTask<ulong> ReadStampAsync(string tag, ulong hash, CancellationToken cancellationToken)
    {
        string text = _backend.Records.StampKey(tag);
        var deadline = new Deadline(_options.ReadTimeout, _options.Clock);
        if (_backend.Ledger.TryRead(text, out PendingChange? owed) && owed is null or { Kind: ChangeKind.Stamp })
        {
            return owed?.Number ?? Tag.Unknown;
        }

        ulong era = await _backend.GetEraAsync(mustAsk: false, deadline, cancellationToken).ConfigureAwait(false);
        if (era == 0)
        {
            return Tag.Unknown;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await _backend.ReadAsync(text, deadline.Left, cancellationToken).ConfigureAwait(false);
        if (result.Status != CallStatus.Done)
        {
            return Tag.Unknown;
        }

        if (result.Value is { } record)
        {
            if (!DistributedRecords.TryReadStamp(text, record.Span, out ulong eraOfRecord, out ulong stamp))
            {
                _backend.CountDamaged(text);
            }
            else if (eraOfRecord == era
                || eraOfRecord == await _backend.GetEraAsync(mustAsk: true, deadline, cancellationToken).ConfigureAwait(false))
            {
                return stamp;
            }
        }

        // Others in this process may have made one at the same time: they are told, and ask again. This caller knows.
        var change = new PendingChange(ChangeKind.Stamp) { Number = DistributedRecords.NewNumber() };
        try
        {
            await _backend.Ledger.ApplyAsync(text, change, lease: null, _options.WriteTimeout, cancellationToken).ConfigureAwait(false);
            return change.Number;
        }
        finally
        {
            _backend.Hub.Tell(hash, except: _coherence);
        }
    }

    public override ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, CancellationToken cancellationToken) => ChangeAsync(
        _backend.Records.StampKey(tag), hash, new PendingChange(ChangeKind.Stamp) { Number = DistributedRecords.NewNumber() }, cancellationToken);

    public override ValueTask<LevelStatus> ClearAsync(CancellationToken cancellationToken) => _backend.BeginEraAsync(cancellationToken);

    public override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            _backend.Hub.Detach(_coherence);
            await _backend.ReleaseAsync().ConfigureAwait(false);
        }
    }

    private static LevelStatus Found(ReadOnlySpan<byte> record, IBufferWriter<byte> target)
    {
        target.Write(record[DistributedRecords.EraBytes..]);
        return LevelStatus.Hit;
    }

    private async ValueTask<LevelStatus> ChangeAsync(string text, ulong hash, PendingChange change, CancellationToken cancellationToken)
    {
        try
        {
            return await _backend.Ledger.ApplyAsync(text, change, lease: null, _options.WriteTimeout, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _backend.Hub.Tell(hash);
        }
    }

    /// <summary>Writes through the server's leases; null if they cannot do that.</summary>
    private async ValueTask<LevelStatus?> WriteIfLeasedAsync(
        string text, DistributedLease lease, byte[] record, DistributedCacheEntryOptions expiry, Deadline deadline, CancellationToken cancellationToken)
    {
        CallResult<CacheLeaseStatus> result = await _backend.CallLeasesAsync(
            (Leases: _backend.Leases!, text, Owner: lease.Owner!, record, expiry),
            static async (state, token) =>
                await state.Leases.TrySetAsync(state.text, state.Owner, state.record, state.expiry, token).ConfigureAwait(false),
            deadline.Left,
            cancellationToken).ConfigureAwait(false);
        switch (result)
        {
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.NotSupported }:
                return null;
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.Acquired }:
                // Done for all that read it from the server; that other machines' first levels hear of it may be owed.
                return await _backend.PublishAsync(text, lease.Local, deadline.Left, cancellationToken).ConfigureAwait(false);
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.Held }:
                lease.Lose();
                return LevelStatus.LeaseLost;
            default:
                // Nothing is owed: the server decides whenever the call gets there, by whether the lease still stands.
                return LevelStatus.Failed;
        }
    }

    // With this process' lease in hand: is there a value by now, and will the server give its lease?
    private async ValueTask<LeaseResult> CompleteLeaseAsync(LeaseRequest request, LocalLease local, CancellationToken cancellationToken)
    {
        var deadline = new Deadline(_options.ReadTimeout, _options.Clock);
        ulong era = await _backend.GetEraAsync(mustAsk: false, deadline, cancellationToken).ConfigureAwait(false);
        string? owner = null;
        bool isUnasked = false;
        bool onlyIfMissing = !request.ReplacesStale;
        bool mustLook = onlyIfMissing;
        if (_backend.Leases is { } leases)
        {
            string asking = Guid.NewGuid().ToString("N");
            CacheLeaseStatus? status = await AcquireOnServerAsync(leases, request, asking, onlyIfMissing, cancellationToken).ConfigureAwait(false);
            if (status == CacheLeaseStatus.HasValue)
            {
                if (await HasValueAsync(request.Key, era, cancellationToken).ConfigureAwait(false))
                {
                    return new(LevelStatus.Hit, HasWaited: request.HasWaited);
                }

                // Of an older era: a value to the server only.
                mustLook = false;
                status = await AcquireOnServerAsync(leases, request, asking, onlyIfMissing: false, cancellationToken).ConfigureAwait(false);
            }

            if (status == CacheLeaseStatus.Held)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }

            if (status == CacheLeaseStatus.Acquired)
            {
                owner = asking;
                mustLook &= !leases.ChecksValue;
            }

            // Else the lease holds within this process: the server has none, or could not be asked.
            isUnasked = status is null && _backend.Hub.HasChannel;
        }

        var lease = new DistributedLease(_backend, _options, local, owner, era) { IsUnasked = isUnasked };
        if (mustLook && await HasValueAsync(request.Key, era, cancellationToken).ConfigureAwait(false))
        {
            await lease.DisposeAsync().ConfigureAwait(false);
            return new(LevelStatus.Hit, HasWaited: request.HasWaited);
        }

        // What was stale may have been replaced between the caller's look and the lease: only he can tell.
        return new(LevelStatus.Done, lease, HasWaited: request.HasWaited || request.ReplacesStale);
    }

    // Null if it could not be asked.
    private async ValueTask<CacheLeaseStatus?> AcquireOnServerAsync(
        ICacheLeases leases, LeaseRequest request, string owner, bool onlyIfMissing, CancellationToken cancellationToken)
    {
        long pollMs = FirstPollMs;
        while (true)
        {
            CallResult<CacheLeaseStatus> result = await _backend.CallLeasesAsync(
                (leases, request.Key, owner, _options.LeaseDuration, onlyIfMissing),
                static async (state, token) => await state.leases
                    .TryAcquireAsync(state.Key, state.owner, state.LeaseDuration, state.onlyIfMissing, token).ConfigureAwait(false),
                _options.ReadTimeout,
                cancellationToken).ConfigureAwait(false);
            if (result.Status != CallStatus.Done)
            {
                return null;
            }

            TimeSpan left = request.Left;
            if (result.Value != CacheLeaseStatus.Held || left <= TimeSpan.Zero)
            {
                return result.Value;
            }

            // Told by the server if it can; asked again now and then in any case, since its word may be lost.
            request.HasWaited = true;
            TimeSpan pause = TimeSpan.FromMilliseconds(Math.Min(pollMs, Math.Ceiling(left.TotalMilliseconds)));
            pollMs = Math.Min(pollMs * 2, LongestPollMs);
            await WaitForReleaseAsync(leases, request.Key, pause, cancellationToken).ConfigureAwait(false);
        }
    }

    private async ValueTask WaitForReleaseAsync(ICacheLeases leases, string text, TimeSpan pause, CancellationToken cancellationToken)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task timer = Task.Delay(pause, _options.Clock, end.Token);
        Task<bool> told = Task.Run(async () => await leases.WaitForReleaseAsync(text, end.Token).ConfigureAwait(false), CancellationToken.None);
        Task first = await Task.WhenAny(timer, told).ConfigureAwait(false);
        if (first == told && !(told.IsCompletedSuccessfully && await told.ConfigureAwait(false)))
        {
            await timer.ConfigureAwait(false);
        }

        await end.CancelAsync().ConfigureAwait(false);
        _ = told.ContinueWith(static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        cancellationToken.ThrowIfCancellationRequested();
    }

    private async ValueTask<bool> HasValueAsync(string text, ulong era, CancellationToken cancellationToken)
    {
        if (_backend.Ledger.TryRead(text, out PendingChange? owed))
        {
            return owed is { Kind: ChangeKind.Write } && _backend.Expiry(owed.Expiration) is not null;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await _backend.ReadAsync(text, _options.ReadTimeout, cancellationToken).ConfigureAwait(false);
        return result is { Status: CallStatus.Done, Value: { } record } && DistributedRecords.EraOf(record.Span) is var of && of != 0 && of == era;
    }

    private sealed class LeaseRequest(string key, bool replacesStale, TimeSpan wait, TimeProvider clock)
    {
        private readonly long _startedAt = clock.GetTimestamp();

        public string Key { get; } = key;

        public bool ReplacesStale { get; } = replacesStale;

        public bool HasWaited { get; set; }

        public TimeSpan Left => wait - clock.GetElapsedTime(_startedAt);
    }
}
