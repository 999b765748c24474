using Cairn.Caching.Coherence;
using Cairn.Caching.Records;
using Cairn.Caching.Timing;
using Cairn.Engine;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Levels;

// The state that all caches of one name over one IDistributedCache share in this process: one write-behind queue, one set of circuit
// breakers, one channel. So these caches are coherent with each other, whatever the IDistributedCache does. Options and logger are those of
// the first cache.
internal sealed class DistributedBackend
{
    private const string InMemoryType = "Microsoft.Extensions.Caching.Distributed.MemoryDistributedCache";

    // By instance and name. The table of an instance is collected together with the instance.
    private static readonly ConditionalWeakTable<IDistributedCache, Dictionary<string, DistributedBackend>> s_shared = [];

    private const int EraAttempts = 3;

    // The longest time for which a cache's constructor waits for a channel.
    private static readonly TimeSpan s_longestStart = TimeSpan.FromSeconds(1);

    private readonly IDistributedCache _cache;
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedLevelOptions _options;
    private readonly LevelLog _log;
    private readonly MonotonicClock _clock;
    private readonly CacheClock _timeOfDay;
    private readonly CircuitBreaker _common;
    private readonly List<CircuitBreaker> _breakers;
    private readonly CacheCalls _calls;
    private readonly BoundedCalls _publish;

    // True if no other process can change the contents of the cache.
    private readonly bool _isPrivate;
    // Most entries have the same lifetime, and the object is not modified once it is passed on. A race creates one object more.
    private DistributedCacheEntryOptions? _lastExpiry;
    private readonly Lock _eraGate = new();
    private Task<ulong>? _eraQuestion;
    private ulong _era;
    private int _eraVersion;
    private long _eraFreshUntilMs;
    private volatile bool _isReady;
    private int _users;

    private DistributedBackend(
        IDistributedCache cache, ICacheLeases? leases, ICacheInvalidation? channel, DistributedLevelOptions options, ILogger logger)
    {
        _cache = cache;
        _channel = channel;
        _options = options;
        _log = new LevelLog(logger, options);
        _clock = new(options.Clock);
        _timeOfDay = new(options.Clock);
        _isPrivate = string.Equals(cache.GetType().FullName, InMemoryType, StringComparison.Ordinal);
        _common = new(options);
        _breakers = [_common];
        _calls = new(cache, _isPrivate || options.IsInMemory, MakeCalls);
        Leases = leases is null ? null : new(leases, MakeCalls);
        _publish = MakeCalls("publishing a change", new(isKnown: false));
        Records = new(options.Name);
        ChannelLiveness = new(isNeeded: channel is not null, options.Clock, options.TrustAfterHeartbeat);
        Pending = new(
            options, Counters, _log, ChannelLiveness, AttemptAsync, () => Math.Max(_common.WaitMs, _calls.ChangeWaitMs), EndBreaks, OnOverflow, HashOf);
        if (channel is null && !_isPrivate && !options.IsInMemory)
        {
            _log.NoChannel(cache.GetType().Name);
        }

        Hub = new(channel, Records, _isPrivate, ChannelLiveness, HashOf, OnChangedElsewhere, OnProven);
    }

    public LevelCounters Counters { get; } = new();

    public DistributedRecords Records { get; }

    public ChannelLiveness ChannelLiveness { get; }

    public WriteBehindQueue Pending { get; }

    public ChannelHub Hub { get; }

    public LeaseCalls? Leases { get; }

    public KeyHasher Hasher { get; } = KeyHasher.Random();

    public KeyHasher TagHasher { get; } = KeyHasher.Random();

    /// <summary>True if no other process can change the contents of the cache.</summary>
    public bool IsPrivate => _isPrivate;

    /// <summary>Lists the keys of values; null if the cache cannot.</summary>
    public IAsyncEnumerable<string>? ListKeysAsync(CancellationToken cancellationToken) => _cache is ICacheKeys keys ? ValueKeysAsync(keys, cancellationToken) : null;

    /// <summary>True while a circuit is open: the common one or that of a kind of calls.</summary>
    public bool IsBroken => _breakers.Exists(breaker => breaker.IsOpen);

    /// <summary>The era that this process knew last; 0 if none. It is current enough to write with: entries of an old era are not read.</summary>
    public ulong KnownEra => Volatile.Read(ref _era);

    /// <summary>Returns the backend of a cache and a name; <see cref="ReleaseAsync"/> releases it.</summary>
    public static DistributedBackend Of(
        IDistributedCache cache, ICacheLeases? leases, ICacheInvalidation? channel, DistributedLevelOptions options, ILogger logger)
    {
        Dictionary<string, DistributedBackend> ofCache = s_shared.GetValue(cache, static _ => new(StringComparer.Ordinal));
        lock (ofCache)
        {
            if (!ofCache.TryGetValue(options.Name, out DistributedBackend? backend))
            {
                backend = new(cache, leases ?? cache as ICacheLeases, channel ?? cache as ICacheInvalidation, options, logger);
                TimeSpan limit = options.ReadTimeout < s_longestStart ? options.ReadTimeout : s_longestStart;
                backend.Hub.Start(limit, fault => backend._log.Failed("subscribing to changes", fault));
                ofCache.Add(options.Name, backend);
            }

            backend._users++;
            return backend;
        }
    }

    /// <summary>Releases the backend. The last release makes the pending changes, for a limited time.</summary>
    public async ValueTask ReleaseAsync()
    {
        if (!s_shared.TryGetValue(_cache, out Dictionary<string, DistributedBackend>? ofCache))
        {
            return;
        }

        lock (ofCache)
        {
            if (--_users > 0)
            {
                return;
            }

            ofCache.Remove(_options.Name);
        }

        await Pending.CloseAsync().ConfigureAwait(false);
        Hub.Dispose();
        Pending.Dispose();
    }

    /// <summary>
    /// False until the channel delivers changes for the first time, reports that it cannot, or a caller's wait for that has timed out.
    /// </summary>
    public bool IsReady => _isReady || !Hub.HasChannel || Hub.HasAnswered;

    /// <summary>Waits until the channel delivers changes or reports that it cannot, as long as a read may take.</summary>
    public async ValueTask WhenReadyAsync(LevelWait wait)
    {
        try
        {
            TimeSpan left = wait.Deadline?.Left(_options.ReadTimeout) ?? _options.ReadTimeout;
            await Hub.WaitUntilAnsweredAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _options.Clock, wait.Token).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // Later callers do not wait again: the level works without the channel, and trusts its entries for less time.
        }

        _isReady = true;
    }

    /// <summary>Reads a record; the value is null if there is none.</summary>
    public ValueTask<CallResult<ReadOnlyMemory<byte>?>> ReadAsync(string key, in LevelWait wait) => _calls.GetAsync(key, _options.ReadTimeout, wait);

    /// <summary>Reads a record if the cache is prompt. Returns false if the read may have to be awaited.</summary>
    public bool TryReadNow(string key, out CallResult<byte[]?> result) => _calls.TryGetNow(key, out result);

    public ValueTask<CallResult<bool>> RefreshAsync(string key, in LevelWait wait) => _calls.RefreshAsync(key, _options.WriteTimeout, wait);

    public void CountDamaged(string key)
    {
        Counters.CountDamaged();
        _log.Damaged(key);
    }

    /// <summary>The expiration of stamps and eras.</summary>
    public DistributedCacheEntryOptions StampExpiry => new() { SlidingExpiration = _options.StampLifetime };

    /// <summary>Returns an entry's expiration as options of IDistributedCache; null if it has expired.</summary>
    public DistributedCacheEntryOptions? Expiry(LevelExpiration expiration)
    {
        TimeSpan? relative = null;
        if (expiration.Deadline != long.MaxValue)
        {
            long leftMs = expiration.Deadline - _timeOfDay.Read().UnixNow;
            if (leftMs <= 0)
            {
                return null;
            }

            // Relative to now: the clock of the server may differ.
            relative = TimeSpan.FromMilliseconds(Math.Min(leftMs, (long)TimeSpan.FromDays(36_500).TotalMilliseconds));
        }

        TimeSpan? sliding = expiration.SlidingMs > 0 ? TimeSpan.FromMilliseconds(expiration.SlidingMs) : null;
        if (_lastExpiry is { } last && last.AbsoluteExpirationRelativeToNow == relative && last.SlidingExpiration == sliding)
        {
            return last;
        }

        return _lastExpiry = new() { AbsoluteExpirationRelativeToNow = relative, SlidingExpiration = sliding };
    }

    /// <summary>Returns the current era, to which valid entries belong; 0 if it cannot be determined now.</summary>
    /// <param name="mustAsk">True if the era that is known here is not new enough.</param>
    /// <param name="wait">The deadline and token. When the time is over, the result is 0.</param>
    public ValueTask<ulong> GetEraAsync(bool mustAsk, in LevelWait wait)
    {
        return !mustAsk && TryKnowEra(out ulong era) ? new(era) : WaitForEraAsync(wait);
    }

    /// <summary>Returns true if the current era is known without a read.</summary>
    public bool TryKnowEra(out ulong era)
    {
        era = KnownEra;
        return era != 0 && (_isPrivate || (Hub.HasChannel && Hub.IsTrusted) || _clock.NowMs < Volatile.Read(ref _eraFreshUntilMs));
    }

    /// <summary>Removes all entries: begins a new era.</summary>
    public async ValueTask<LevelStatus> BeginEraAsync(LevelWait wait)
    {
        try
        {
            Pending.OnNewEra();
            return await WriteNewEraAsync(wait).ConfigureAwait(false);
        }
        finally
        {
            Hub.TellAll();
        }
    }

    /// <summary>Publishes a change that was not made through the write-behind queue.</summary>
    public async ValueTask<LevelStatus> PublishAsync(string key, LocalLease lease, LevelWait wait) =>
        _channel is { ReportsChanges: false }
            ? await Pending.ApplyAsync(key, new PendingChange(ChangeKind.Publish), lease, wait).ConfigureAwait(false)
            : LevelStatus.Done;

    /// <summary>Returns the hash of a key of the second level in first levels; 0 if it has none.</summary>
    public ulong HashOf(string key) =>
        Records.IsValueKey(key, out ReadOnlySpan<char> text) ? Hasher.Hash(text)
        : Records.IsStampKey(key, out ReadOnlySpan<char> tag) ? TagHasher.Hash(tag)
        : 0;

    // Not awaited: the caller that found too many changes waits for its own change only. It does not throw.
    private void OnOverflow() => _ = BeginEraAsync(CancellationToken.None).AsTask();

    private async ValueTask<LevelStatus> WriteNewEraAsync(LevelWait wait)
    {
        var change = new PendingChange(ChangeKind.Era) { Number = DistributedRecords.NewNumber() };
        SetEra(change.Number);
        LevelStatus status = await Pending
            .ApplyAsync(Records.EraKey, change, lease: null, wait).ConfigureAwait(false);
        lock (_eraGate)
        {
            // A read of the record that began before the write must not bring the old era back (Learn).
            _eraVersion++;
            if (_era != change.Number)
            {
                // Another machine's era arrived meanwhile. The next use of the era reads which one came last.
                Volatile.Write(ref _era, 0);
            }
        }

        return status;
    }

    private void SetEra(ulong era)
    {
        lock (_eraGate)
        {
            _eraVersion++;
            Volatile.Write(ref _era, era);
            Volatile.Write(ref _eraFreshUntilMs, _clock.NowMs + (long)_options.EraInterval.TotalMilliseconds);
        }
    }

    // One read answers all callers that want to know the era. No caller can cancel it, and each has its own time-out.
    private async ValueTask<ulong> WaitForEraAsync(LevelWait wait)
    {
        Task<ulong>? question;
        TaskCompletionSource<ulong>? answer = null;
        lock (_eraGate)
        {
            if (_eraQuestion is null)
            {
                answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
                _eraQuestion = answer.Task;
            }

            question = _eraQuestion;
        }

        if (answer is not null)
        {
            // It does not throw.
            _ = AnswerEraAsync(answer);
        }

        try
        {
            TimeSpan left = wait.Deadline?.Left(_options.ReadTimeout) ?? _options.ReadTimeout;
            return await question.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _options.Clock, wait.Token).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return 0;
        }
    }

    private async Task AnswerEraAsync(TaskCompletionSource<ulong> answer)
    {
        ulong era = await AskEraAsync().ConfigureAwait(false);
        lock (_eraGate)
        {
            _eraQuestion = null;
        }

        answer.SetResult(era);
    }

    // A channel that begins to receive changes while the era is read or written voids what is known of it. Then the record is read again, because
    // the caller would otherwise treat a second level that works as one that does not answer.
    private async ValueTask<ulong> AskEraAsync()
    {
        for (int attempt = 0; attempt < EraAttempts; attempt++)
        {
            if (await TryAskEraAsync().ConfigureAwait(false) is { } era)
            {
                return era;
            }
        }

        return 0;
    }

    // Returns 0 if the second level does not answer, and null if the era became void meanwhile.
    private async ValueTask<ulong?> TryAskEraAsync()
    {
        int version;
        lock (_eraGate)
        {
            version = _eraVersion;
        }

        bool isPending = Pending.TryRead(Records.EraKey, out PendingChange? pending);
        if (isPending && pending is not { Kind: ChangeKind.Remove })
        {
            return pending is null ? 0 : UnlessVoid(Learn(pending.Number, version));
        }

        // The record of a pending removal counts as missing.
        CallResult<ReadOnlyMemory<byte>?> result = isPending
            ? new(CallStatus.Done, null)
            : await ReadAsync(Records.EraKey, CancellationToken.None).ConfigureAwait(false);
        if (result.Status != CallStatus.Done)
        {
            return 0;
        }

        if (result.Value is { } record)
        {
            if (DistributedRecords.TryReadEra(Records.EraKey, record.Span, out ulong era))
            {
                return UnlessVoid(Learn(era, version));
            }

            CountDamaged(Records.EraKey);
        }

        // First levels may keep their entries: no machine has cleared the cache; the second level has lost its era.
        await WriteNewEraAsync(CancellationToken.None).ConfigureAwait(false);
        return UnlessVoid(KnownEra);
    }

    private async IAsyncEnumerable<string> ValueKeysAsync(ICacheKeys keys, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (string text in keys.ListKeysAsync(cancellationToken).ConfigureAwait(false))
        {
            if (Records.IsValueKey(text, out ReadOnlySpan<char> key))
            {
                yield return key.ToString();
            }
        }
    }

    private static ulong? UnlessVoid(ulong era) => era != 0 ? era : null;

    private ulong Learn(ulong era, int version)
    {
        ulong known;
        lock (_eraGate)
        {
            known = _era;
            if (_eraVersion != version)
            {
                // This process began an era meanwhile, or another machine's arrived; the one that was read may be older.
                return known;
            }

            _era = era;
            Volatile.Write(ref _eraFreshUntilMs, _clock.NowMs + (long)_options.EraInterval.TotalMilliseconds);
        }

        if (known != 0 && known != era)
        {
            // Another machine has cleared the cache, and no channel has reported it.
            Hub.TellAll();
        }

        return era;
    }

    private void OnChangedElsewhere(string? key)
    {
        if (key is not null)
        {
            Pending.OnChangedElsewhere(key);
            return;
        }

        lock (_eraGate)
        {
            _eraVersion++;
            _era = 0;
        }

        Pending.OnAllChangedElsewhere();
    }

    private void OnProven()
    {
        Pending.OnProven();
        if (ReferenceEquals(_channel, _cache))
        {
            // A cache that reports that it works need not be avoided, and other machines wait for the pending changes.
            EndBreaks();
            Pending.Hasten();
        }
    }

    private ValueTask<AttemptResult> AttemptAsync(string key, PendingChange change)
    {
        if (Leases is not null || _channel is { ReportsChanges: false } || change.Kind == ChangeKind.Publish)
        {
            return AttemptStepsAsync(key, change);
        }

        ValueTask<CallResult<bool>> changing = ChangeAsync(key, change);
        return changing.IsCompletedSuccessfully ? new(AttemptOf(changing.Result)) : LaterAsync(changing);

        static async ValueTask<AttemptResult> LaterAsync(ValueTask<CallResult<bool>> changing) => AttemptOf(await changing.ConfigureAwait(false));

        static AttemptResult AttemptOf(CallResult<bool> changed) => new(changed.IsDone, changed.Late);
    }

    // Ends other machines' leases, changes the key, and publishes the change. If one part fails, all are done again later.
    private async ValueTask<AttemptResult> AttemptStepsAsync(string key, PendingChange change)
    {
        bool areLeasesEnded = true;

        // A writer with the lease keeps it until the value is stored: otherwise another machine would get the lease in between and create the
        // value again.
        if (Leases is { ChangesEndLeases: false } leases && change.Kind is ChangeKind.Write or ChangeKind.Remove
            && change.Holder is not { IsOnServer: true })
        {
            CallResult<bool> ended = await leases.EndAsync(key, _options.WriteTimeout).ConfigureAwait(false);
            areLeasesEnded = ended.Status == CallStatus.Done;
        }

        if (change.Kind != ChangeKind.Publish)
        {
            CallResult<bool> changed = await ChangeAsync(key, change).ConfigureAwait(false);
            if (changed.Status != CallStatus.Done)
            {
                return new(IsDone: false, changed.Late);
            }
        }

        bool isTold = true;
        if (_channel is { ReportsChanges: false })
        {
            CallResult<bool> told = await _publish.CallAsync(
                (Channel: _channel, Change: new CacheChange(key, IsPrefix: false, Hub.Id)),
                static (state, token) => CacheCalls.CompletedAsync(state.Channel.PublishAsync(state.Change, token)),
                _options.WriteTimeout,
                CancellationToken.None).ConfigureAwait(false);
            isTold = told.Status == CallStatus.Done;
        }

        return new(areLeasesEnded && isTold);
    }

    private ValueTask<CallResult<bool>> ChangeAsync(string key, PendingChange change)
    {
        byte[]? record;
        DistributedCacheEntryOptions? expiry = null;
        switch (change.Kind)
        {
            case ChangeKind.Write:
                record = change.Record;
                expiry = Expiry(change.Expiration);
                break;
            case ChangeKind.Stamp:
                // The record has the era that is known now, or else the last one that was. If that era is no longer valid, the stamp counts as
                // missing, and a new one replaces it.
                record = DistributedRecords.Stamp(key, KnownEra is not 0 and var known ? known : change.Era, change.State);
                expiry = StampExpiry;
                break;
            case ChangeKind.Era:
                record = DistributedRecords.Era(key, change.Number);
                expiry = StampExpiry;
                break;
            default:
                record = null;
                break;
        }

        // A write that has expired in the meantime still removes the earlier value.
        return record is null || expiry is null
            ? _calls.RemoveAsync(key, _options.WriteTimeout)
            : _calls.SetAsync(key, record, expiry, _options.WriteTimeout);
    }

    private BoundedCalls MakeCalls(string what, PromptCode code)
    {
        var calls = new BoundedCalls(what, code, _common, _options, Counters, _log);
        _breakers.Add(calls.Breaker);
        return calls;
    }

    private void EndBreaks() => _breakers.ForEach(breaker => breaker.EndBreak());
}
