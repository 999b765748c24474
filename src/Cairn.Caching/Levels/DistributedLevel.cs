using Cairn.Caching.Coherence;
using Cairn.Caching.Records;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Engine;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Levels;

// Any IDistributedCache as second level. Its failures are handled in BoundedCalls (code that throws or hangs), CircuitBreaker, WriteBehindQueue
// (changes that failed) and DistributedRecords (entries that are lost or damaged).
//
//   I1  A change is reported to all first levels of this process before it is acknowledged, done or pending.
//   I2  A write that ends as Done or as Failed counts as one change of its key for ICoherence.TryKeep (ChangesOf), unless its caller reports it
//       by ChannelCoherence.TryKeepWritten.
//   I3  A value is not written if other machines may have changed its sources since. With a lease of the server, the server knows whether
//       they did. With a lease within this process, this process knows it as long as the channel is live.
internal sealed class DistributedLevel : SecondLevel
{
    private const int ReadsAtOnce = 32;
    private const long FirstPollMs = 20;
    private const long LongestPollMs = 250;

    private readonly DistributedLevelOptions _options;
    private readonly DistributedBackend _backend;
    private readonly ChannelCoherence _coherence;
    private int _isDisposed;

    /// <summary>Opens the level.</summary>
    /// <param name="cache">The cache, which the caller owns.</param>
    /// <param name="leases">The registered leases; null to use the cache itself if it implements them.</param>
    /// <param name="channel">The registered invalidation channel; null to use the cache itself if it implements one.</param>
    /// <param name="options">The options. For calls that are made later, those of the first level with the same cache and name apply.</param>
    /// <param name="logger">The logger of failures.</param>
    public DistributedLevel(
        IDistributedCache cache, ICacheLeases? leases, ICacheInvalidation? channel, DistributedLevelOptions options, ILogger logger)
    {
        _options = options;
        StoresPlainValues = cache is IPlainValues { StoresPlainValues: true };
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

    public override bool StoresPlainValues { get; }

    public override LevelHealth Health => new()
    {
        Failures = Counters.Failures + Counters.Damaged,
        Timeouts = Counters.Timeouts,
        Refused = Counters.Refused,
        PendingChanges = PendingChanges,
        IsBroken = _backend.IsBroken,
        IsCutOff = _backend.ChannelLiveness.IsCutOff,
    };

    public LevelCounters Counters => _backend.Counters;

    /// <summary>The number of changes that the second level does not have yet.</summary>
    public int PendingChanges => _backend.Pending.PendingCount;

    /// <summary>True while the circuit breaker is open after repeated failures.</summary>
    public bool IsBroken => _backend.IsBroken;

    public override bool IsReady => _backend.IsReady;

    public override ValueTask WhenReadyAsync(LevelWait wait) => _backend.WhenReadyAsync(wait);

    public override LevelDeadline? NewDeadline() => new(_options.Clock);

    public override int ChangesOf(LevelStatus change) => change is LevelStatus.Done or LevelStatus.Failed ? 1 : 0;

    public override async ValueTask<LevelStatus> ReadAsync(
        string key, ulong hash, IBufferWriter<byte> target, LevelWait wait)
    {
        string text = _backend.Records.ValueKey(key);
        wait = Shared(wait);
        if (_backend.Pending.TryRead(text, out PendingChange? pending))
        {
            if (pending is not { Kind: ChangeKind.Write } || _backend.Expiry(pending.Expiration) is null)
            {
                return LevelStatus.Miss;
            }

            return DistributedRecords.EraOf(pending.Record) == _backend.KnownEra ? Found(pending.Record, target) : LevelStatus.Miss;
        }

        ulong era = await _backend.GetEraAsync(mustAsk: false, wait).ConfigureAwait(false);
        if (era == 0)
        {
            return LevelStatus.Failed;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await _backend.ReadAsync(text, wait).ConfigureAwait(false);
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

        // Of another era: perhaps a newer one that this process does not know yet.
        bool isCurrent = eraOfRecord == era
            || eraOfRecord == await _backend.GetEraAsync(mustAsk: true, wait).ConfigureAwait(false);
        return isCurrent ? Found(record.Span, target) : LevelStatus.Miss;
    }

    // Completes if the cache has proven to be prompt and no other record must be read first.
    public override bool TryReadNow(string key, ulong hash, IBufferWriter<byte> target, out LevelStatus status)
    {
        status = LevelStatus.Failed;
        string text = _backend.Records.ValueKey(key);
        if (!_backend.TryKnowEra(out ulong era) || _backend.Pending.TryRead(text, out _) || !_backend.TryReadNow(text, out CallResult<byte[]?> result))
        {
            return false;
        }

        if (result.Value is not { } record)
        {
            status = result.IsDone ? LevelStatus.Miss : LevelStatus.Failed;
            return true;
        }

        if (DistributedRecords.EraOf(record) != era)
        {
            return false; // Damaged, or of an era that must be checked.
        }

        status = Found(record, target);
        return true;
    }

    public override async ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses, LevelWait wait)
    {
        wait = Shared(wait);
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
                statuses[at] = await ReadAsync(keys.Span[at], hashes.Span[at], targets[at], wait).ConfigureAwait(false);
            }
        }
    }

    public override ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease, LevelWait wait)
    {
        var held = (DistributedLease?)lease;
        if (held is { IsHeld: false })
        {
            return new(LevelStatus.LeaseLost);
        }

        // With a lease within this process, of the current era, the write is one step. An in-memory cache completes it at once.
        ulong era = _backend.KnownEra;
        ValueTask<LevelStatus> writing = held is { Owner: null, IsUnasked: false } && era != 0 && held.Era == era && _backend.ChannelLiveness.IsTrusted
            ? _backend.Pending.WriteAsync(DistributedRecords.Value(era, envelope.Span), expiration, held, wait)
            : WriteInStepsAsync(key, envelope, expiration, held, wait);
        return ToldAsync(hash, writing, held);
    }

    private async ValueTask<LevelStatus> WriteInStepsAsync(
        string key, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, DistributedLease? held, LevelWait wait)
    {
        string text = _backend.Records.ValueKey(key);
        ulong era = _backend.KnownEra;
        if (era == 0 || held?.Owner is not null)
        {
            wait = Shared(wait); // More than one step.
        }

        if (era == 0)
        {
            era = await _backend.GetEraAsync(mustAsk: false, wait).ConfigureAwait(false);
        }

        if (held is not null && held.Era != 0 && era != 0 && held.Era != era)
        {
            held.Lose();
            return LevelStatus.LeaseLost;
        }

        if (era == 0)
        {
            // The era of the value is not known. The earlier value is removed, as soon as that is possible.
            LevelStatus removed = await _backend.Pending.ApplyAsync(text, new PendingChange(ChangeKind.Remove), held, wait).ConfigureAwait(false);
            return removed == LevelStatus.LeaseLost ? removed : LevelStatus.Failed;
        }

        if (held is { Owner: null } && (held.IsUnasked || !_backend.ChannelLiveness.IsTrusted))
        {
            return LevelStatus.Failed; // I3
        }

        byte[] record = DistributedRecords.Value(era, envelope.Span);
        if (held?.Owner is not null && _backend.Expiry(expiration) is { } expiry)
        {
            LevelStatus? conditional = await WriteIfLeasedAsync(text, held, record, expiry, wait).ConfigureAwait(false);
            if (conditional is not null)
            {
                return conditional.Value;
            }
        }

        var change = new PendingChange(ChangeKind.Write) { Record = record, Expiration = expiration, Holder = held };
        return await _backend.Pending.ApplyAsync(text, change, held, wait).ConfigureAwait(false);
    }

    public override ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait) =>
        ChangeAsync(_backend.Records.ValueKey(key), hash, new PendingChange(ChangeKind.Remove), wait);

    public override async ValueTask<LevelStatus> TouchAsync(string key, ulong hash, LevelExpiration expiration, LevelWait wait) =>
        (await _backend.RefreshAsync(_backend.Records.ValueKey(key), wait).ConfigureAwait(false)).IsDone ? LevelStatus.Done : LevelStatus.Failed;

    public override ValueTask<LeaseResult> AcquireLeaseAsync(string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait)
    {
        return TryAcquireNow(key, hash) is { } lease
            ? new(new LeaseResult(LevelStatus.Done, lease, HasWaited: replacesStale))
            : AcquireLeaseSlowlyAsync(_backend.Records.ValueKey(key), replacesStale, leaseWait, wait);
    }

    // Succeeds if no other caller has the lease and no server must be called.
    public override ILevelLease? TryAcquireNow(string key, ulong hash)
    {
        if (_backend.Leases is not null || !_backend.TryKnowEra(out ulong era))
        {
            return null;
        }

        var lease = new DistributedLease(_backend, _backend.Records.ValueKey(key), hash) { Era = era };
        return _backend.Pending.TryAcquire(lease, out _) ? lease : null;
    }

    private async ValueTask<LeaseResult> AcquireLeaseSlowlyAsync(string text, bool replacesStale, TimeSpan leaseWait, LevelWait wait)
    {
        var request = new LeaseRequest(text, replacesStale, leaseWait, _options.Clock);
        wait = Shared(wait);
        var lease = new DistributedLease(_backend, request.Key, _backend.HashOf(request.Key));
        while (!_backend.Pending.TryAcquire(lease, out LocalLease? other))
        {
            request.HasWaited = true;
            TimeSpan left = request.Left;
            if (left <= TimeSpan.Zero)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }

            try
            {
                wait.Deadline?.Pause();
                await other.WaitForEndAsync(left, _options.Clock, wait.Token).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }
            finally
            {
                wait.Deadline?.Resume();
            }
        }

        LeaseResult result = default;
        try
        {
            result = await CompleteLeaseAsync(request, lease, wait).ConfigureAwait(false);
            return result;
        }
        finally
        {
            if (result.Lease is null)
            {
                // Not awaited: a cancelled or refused caller does not wait for a server. It does not throw.
                _ = lease.DisposeAsync().AsTask();
            }
        }
    }

    public override async ValueTask<TagState> ReadStampAsync(string tag, ulong hash, LevelWait wait)
    {
        string text = _backend.Records.StampKey(tag);
        wait = Shared(wait);
        bool isPending = _backend.Pending.TryRead(text, out PendingChange? pending);
        if (isPending && pending is not { Kind: ChangeKind.Remove })
        {
            return pending?.State ?? default;
        }

        ulong era = await _backend.GetEraAsync(mustAsk: false, wait).ConfigureAwait(false);
        if (era == 0)
        {
            return default;
        }

        // The record of a pending removal counts as missing.
        CallResult<ReadOnlyMemory<byte>?> result = isPending
            ? new(CallStatus.Done, null)
            : await _backend.ReadAsync(text, wait).ConfigureAwait(false);
        if (result.Status != CallStatus.Done)
        {
            return default;
        }

        if (result.Value is { } record)
        {
            if (!DistributedRecords.TryReadStamp(text, record.Span, out ulong eraOfRecord, out TagState state))
            {
                _backend.CountDamaged(text);
            }
            else if (eraOfRecord == era
                || eraOfRecord == await _backend.GetEraAsync(mustAsk: true, wait).ConfigureAwait(false))
            {
                return state;
            }
        }

        // Other caches in this process may have created a stamp at the same time: they are notified and read it again. This caller knows its
        // stamp.
        var change = new PendingChange(ChangeKind.Stamp) { State = new(DistributedRecords.NewNumber()), Era = era };
        try
        {
            await _backend.Pending.ApplyAsync(text, change, lease: null, wait).ConfigureAwait(false);
            return change.State;
        }
        finally
        {
            _backend.Hub.Tell(hash, except: _coherence);
        }
    }

    public override ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait) => ChangeAsync(
        _backend.Records.StampKey(tag), hash, new PendingChange(ChangeKind.Stamp) { State = new(DistributedRecords.NewNumber()), Era = _backend.KnownEra }, wait);

    public override async ValueTask<LevelStatus> AddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait)
    {
        wait = Shared(wait);
        LevelStatus changed = _backend.IsPrivate || _backend.Leases is { ChangesEndLeases: true }
            ? await ToldAsync(hash, TryAddConditionAsync(tag, hash, others, wait)).ConfigureAwait(false)
            : LevelStatus.Failed;
        return changed == LevelStatus.Done ? LevelStatus.Done : await RenewStampAsync(tag, hash, wait).ConfigureAwait(false);
    }

    // The lease of the record makes its read and its write one step: each write by another machine or cache ends the lease.
    private async ValueTask<LevelStatus> TryAddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait)
    {
        string text = _backend.Records.StampKey(tag);
        LeaseResult asked = await AcquireLeaseSlowlyAsync(text, replacesStale: true, _options.WriteTimeout, wait).ConfigureAwait(false);
        if (asked.Lease is not DistributedLease lease)
        {
            return LevelStatus.Failed;
        }

        try
        {
            TagState state = await ReadStampAsync(tag, hash, wait).ConfigureAwait(false);
            ulong era = _backend.KnownEra;
            if (!lease.IsHeld || state.Stamp == Tag.Unknown || era == 0 || era != lease.Era || _backend.Pending.TryRead(text, out _))
            {
                return LevelStatus.Failed;
            }

            TagState changed = state.Without(others);
            return lease.Owner is not null
                ? await WriteIfLeasedAsync(text, lease, DistributedRecords.Stamp(text, era, changed), _backend.StampExpiry, wait).ConfigureAwait(false)
                    ?? LevelStatus.Failed
                : _backend.IsPrivate
                    ? await _backend.Pending.ApplyAsync(text, new PendingChange(ChangeKind.Stamp) { State = changed, Era = era }, lease, wait).ConfigureAwait(false)
                    : LevelStatus.Failed;
        }
        finally
        {
            await lease.DisposeAsync().ConfigureAwait(false);
        }
    }

    public override IAsyncEnumerable<string>? ListKeysAsync(CancellationToken cancellationToken) => _backend.ListKeysAsync(cancellationToken);

    public override ValueTask<LevelStatus> ClearAsync(LevelWait wait) => _backend.BeginEraAsync(wait);

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

    private ValueTask<LevelStatus> ChangeAsync(string text, ulong hash, PendingChange change, LevelWait wait) =>
        ToldAsync(hash, _backend.Pending.ApplyAsync(text, change, lease: null, wait));

    // Reports a change to all first levels before it is acknowledged (I1), unless the change was refused.
    private ValueTask<LevelStatus> ToldAsync(ulong hash, ValueTask<LevelStatus> changing, DistributedLease? held = null)
    {
        if (!changing.IsCompletedSuccessfully)
        {
            held?.IsKeptByHolder = false; // The write may end before its caller looks.
            return ToldLaterAsync(hash, changing);
        }

        LevelStatus status = changing.Result;
        Tell(hash, status, except: status == LevelStatus.Done && held is { IsKeptByHolder: true } ? _coherence : null);
        return new(status);
    }

    private async ValueTask<LevelStatus> ToldLaterAsync(ulong hash, ValueTask<LevelStatus> changing)
    {
        LevelStatus status = LevelStatus.Failed;
        try
        {
            return status = await changing.ConfigureAwait(false);
        }
        finally
        {
            Tell(hash, status);
        }
    }

    private void Tell(ulong hash, LevelStatus status, ChannelCoherence? except = null)
    {
        if (status != LevelStatus.LeaseLost)
        {
            _backend.Hub.Tell(hash, except);
        }
    }

    /// <summary>Writes through the server's leases; null if they do not support that.</summary>
    private async ValueTask<LevelStatus?> WriteIfLeasedAsync(
        string text, DistributedLease lease, byte[] record, DistributedCacheEntryOptions expiry, LevelWait wait)
    {
        CallResult<CacheLeaseStatus> result = await _backend.Leases!
            .TrySetAsync(text, lease.Owner!, record, expiry, _options.WriteTimeout, wait).ConfigureAwait(false);
        switch (result)
        {
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.NotSupported }:
                return null;
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.Acquired }:
                // Done for all that read the value from the server. The message to other machines' first levels may be pending.
                return await _backend.PublishAsync(text, lease, wait).ConfigureAwait(false);
            case { Status: CallStatus.Done, Value: CacheLeaseStatus.Held }:
                lease.Lose();
                return LevelStatus.LeaseLost;
            default:
                // No change is pending: whenever the call arrives, the server decides by the state of the lease.
                return LevelStatus.Failed;
        }
    }

    // Gives the steps of this operation a common deadline, even if the caller brings none.
    private LevelWait Shared(LevelWait wait) => wait.Deadline is null ? wait with { Deadline = NewDeadline() } : wait;

    // Completes a lease that is held within this process: it acquires the server's part and checks whether there is a value by now. Without a
    // server there is nothing to check: writes of other caches of this process since the caller's read were reported to the caller's coherence.
    private async ValueTask<LeaseResult> CompleteLeaseAsync(LeaseRequest request, DistributedLease lease, LevelWait wait)
    {
        wait = Shared(wait);
        ulong era = await _backend.GetEraAsync(mustAsk: false, wait).ConfigureAwait(false);
        lease.Era = era;
        bool onlyIfMissing = !request.ReplacesStale;
        bool mustLook = false;
        bool hasValue = false;
        if (_backend.Leases is { } leases)
        {
            string asking = Guid.NewGuid().ToString("N");
            CacheLeaseStatus? status = await AcquireOnServerAsync(leases, request, asking, onlyIfMissing, wait).ConfigureAwait(false);
            while (status == CacheLeaseStatus.HasValue)
            {
                if (request.ReplacesStale)
                {
                    return new(LevelStatus.Hit, HasWaited: true); // Only the caller can determine whether it may use the value.
                }

                lease.Era = era = await _backend.GetEraAsync(mustAsk: false, wait).ConfigureAwait(false);
                if (await HasValueAsync(request.Key, era, wait).ConfigureAwait(false))
                {
                    return new(LevelStatus.Hit, HasWaited: request.HasWaited);
                }

                // The value belongs to an older era: it is a value only for the server.
                hasValue = true;
                status = await AcquireOnServerAsync(leases, request, asking, onlyIfMissing: false, wait).ConfigureAwait(false);
            }

            if (status == CacheLeaseStatus.Held)
            {
                return new(LevelStatus.Held, HasWaited: true);
            }

            if (status == CacheLeaseStatus.Acquired)
            {
                lease.BeginOnServer(asking, _options);
                mustLook = onlyIfMissing && !hasValue && !leases.ChecksValue;
            }

            // Otherwise the lease applies within this process only: the server has no leases, or did not answer.
            lease.IsUnasked = status is null && _backend.Hub.HasChannel;
        }

        if (mustLook && await HasValueAsync(request.Key, era, wait).ConfigureAwait(false))
        {
            await lease.DisposeAsync().ConfigureAwait(false);
            return new(LevelStatus.Hit, HasWaited: request.HasWaited);
        }

        // The stale value may have been replaced between the caller's read and the lease; only the caller can determine that.
        return new(LevelStatus.Done, lease, HasWaited: request.HasWaited || request.ReplacesStale);
    }

    // Returns null if the server did not answer.
    private async ValueTask<CacheLeaseStatus?> AcquireOnServerAsync(
        LeaseCalls leases, LeaseRequest request, string owner, bool onlyIfMissing, LevelWait wait)
    {
        long pollMs = FirstPollMs;
        while (true)
        {
            // A change must not be missed between the request and the wait, which may be long if the server is busy. If a value is missing, the server
            // looks for it with each request.
            using var endOfWait = CancellationTokenSource.CreateLinkedTokenSource(wait.Token);
            Task<bool>? told = onlyIfMissing ? null : BeginWaitForReleaseAsync(leases, request.Key, endOfWait.Token);
            try
            {
                CallResult<CacheLeaseStatus> result;
                try
                {
                    result = await leases
                        .TryAcquireAsync(request.Key, owner, _options.LeaseDuration, onlyIfMissing, _options.ReadTimeout, wait).ConfigureAwait(false);
                }
                catch (OperationCanceledException)
                {
                    _ = leases.GiveBackAsync(request.Key, owner, _options, late: null);
                    throw;
                }

                if (result.Status != CallStatus.Done)
                {
                    if (result.Status != CallStatus.Refused)
                    {
                        _ = leases.GiveBackAsync(request.Key, owner, _options, result.Late);
                    }

                    return null;
                }

                TimeSpan left = request.Left;
                if (result.Value != CacheLeaseStatus.Held || left <= TimeSpan.Zero)
                {
                    return result.Value;
                }

                // The server reports the end of the lease if it can. The lease is also polled, because the report may be lost.
                request.HasWaited = true;
                TimeSpan pause = TimeSpan.FromMilliseconds(Math.Min(pollMs, Math.Ceiling(left.TotalMilliseconds)));
                pollMs = Math.Min(pollMs * 2, LongestPollMs);
                wait.Deadline?.Pause();
                try
                {
                    bool hasChanged = await WaitForReleaseAsync(told ?? BeginWaitForReleaseAsync(leases, request.Key, endOfWait.Token), pause, wait.Token).ConfigureAwait(false);
                    if (hasChanged && !onlyIfMissing)
                    {
                        // Another machine may have replaced the value. Otherwise all machines would take the lease, one after the other, to see that.
                        return CacheLeaseStatus.HasValue;
                    }
                }
                finally
                {
                    wait.Deadline?.Resume();
                }
            }
            finally
            {
                await endOfWait.CancelAsync().ConfigureAwait(false);
            }
        }
    }

    // External code must not delay the caller.
    private static Task<bool> BeginWaitForReleaseAsync(LeaseCalls leases, string text, CancellationToken cancellationToken)
    {
        Task<bool> told = Task.Run(async () => await leases.WaitForReleaseAsync(text, cancellationToken).ConfigureAwait(false), CancellationToken.None);
        _ = told.ContinueWith(static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        return told;
    }

    // Returns whether the server reported a change of the key.
    private async ValueTask<bool> WaitForReleaseAsync(Task<bool> told, TimeSpan pause, CancellationToken cancellationToken)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task timer = Task.Delay(pause, _options.Clock, end.Token);
#pragma warning disable VSTHRD003 // BeginWaitForReleaseAsync started the task.
        Task first = await Task.WhenAny(timer, told).ConfigureAwait(false);
        bool hasChanged = first == told && told.IsCompletedSuccessfully && await told.ConfigureAwait(false);
#pragma warning restore VSTHRD003
        if (first == told && !hasChanged)
        {
            await timer.ConfigureAwait(false);
        }

        await end.CancelAsync().ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        return hasChanged;
    }

    private async ValueTask<bool> HasValueAsync(string text, ulong era, LevelWait wait)
    {
        if (_backend.Pending.TryRead(text, out PendingChange? pending))
        {
            return pending is { Kind: ChangeKind.Write } && _backend.Expiry(pending.Expiration) is not null;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await _backend.ReadAsync(text, wait).ConfigureAwait(false);
        return result is { Status: CallStatus.Done, Value: { } record } && DistributedRecords.EraOf(record.Span) is var of && of != 0 && of == era;
    }

    private sealed class LeaseRequest(string key, bool replacesStale, TimeSpan wait, TimeProvider clock)
    {
        // 49 days, the longest time that timers support.
        private static readonly TimeSpan s_longestTimer = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

        private readonly long _startedAt = clock.GetTimestamp();

        public string Key { get; } = key;

        public bool ReplacesStale { get; } = replacesStale;

        public bool HasWaited { get; set; }

        public TimeSpan Left => wait == Timeout.InfiniteTimeSpan ? s_longestTimer : wait - clock.GetElapsedTime(_startedAt);
    }
}
