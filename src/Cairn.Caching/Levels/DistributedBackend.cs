using System.Runtime.CompilerServices;
using Cairn.Caching.Coherence;
using Cairn.Keys;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Levels;

// An IDistributedCache as all caches of one name in this process use it: one ledger of changes, one circuit, one channel. So these
// caches agree with one another whatever the IDistributedCache does. Options and logger are those of the first cache.
internal sealed class DistributedBackend
{
    private const string InMemoryType = "Microsoft.Extensions.Caching.Distributed.MemoryDistributedCache";

    // By instance and name. An instance that nobody uses any more takes its table along.
    private static readonly ConditionalWeakTable<IDistributedCache, Dictionary<string, DistributedBackend>> s_shared = [];

    // How long a cache's constructor waits for a channel.
    private static readonly TimeSpan s_longestStart = TimeSpan.FromSeconds(1);

    private readonly IDistributedCache _cache;
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedLevelOptions _options;
    private readonly LevelLog _log;
    private readonly MonotonicClock _clock;
    private readonly CircuitBreaker _common;
    private readonly List<CircuitBreaker> _breakers;
    private readonly CacheCalls _calls;
    private readonly BoundedCalls _publish;

    // True if no other process can change what is in the cache.
    private readonly bool _isPrivate;
    // Most entries live equally long, and nobody changes what is passed on. A race makes one more.
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
        _isPrivate = string.Equals(cache.GetType().FullName, InMemoryType, StringComparison.Ordinal);
        _common = new(options);
        _breakers = [_common];
        _calls = new(cache, _isPrivate || options.IsInMemory, MakeCalls);
        Leases = leases is null ? null : new(leases, MakeCalls);
        _publish = MakeCalls("publishing a change", new(isKnown: false));
        Records = new(options.Name);
        Hearing = new(isNeeded: channel is not null, options);
        Ledger = new(
            options, Counters, _log, Hearing, AttemptAsync, () => Math.Max(_common.WaitMs, _calls.ChangeWaitMs), EndBreaks, OnOverflow);
        if (channel is null && !_isPrivate && !options.IsInMemory)
        {
            _log.NoChannel(cache.GetType().Name);
        }

        Hub = new(channel, Records, _isPrivate, Hearing, HashOf, OnChangedElsewhere, OnProven);
    }

    public LevelCounters Counters { get; } = new();

    public DistributedRecords Records { get; }

    public Hearing Hearing { get; }

    public ChangeLedger Ledger { get; }

    public ChannelHub Hub { get; }

    public LeaseCalls? Leases { get; }

    public KeyHasher Hasher { get; } = KeyHasher.Random();

    public KeyHasher TagHasher { get; } = KeyHasher.Random();

    /// <summary>True while calls are not made: all of them, or those of a kind.</summary>
    public bool IsBroken => _breakers.Exists(breaker => breaker.IsOpen);

    /// <summary>The era as this process last knew it; 0 if it never did. Good enough to write with: what is of an old era is not read.</summary>
    public ulong KnownEra => Volatile.Read(ref _era);

    /// <summary>The one of this cache and name; <see cref="ReleaseAsync"/> gives it back.</summary>
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

    /// <summary>The last user's release makes what is owed, for a bounded time.</summary>
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

        await Ledger.CloseAsync().ConfigureAwait(false);
        Hub.Dispose();
        Ledger.Dispose();
    }

    /// <summary>False until others' changes are heard of for the first time, or somebody has waited for that in vain.</summary>
    public bool IsReady => _isReady || !Hub.HasChannel || Hub.HasHeard;

    /// <summary>Waits until others' changes are heard of, for as long as a read may take.</summary>
    public async ValueTask WhenReadyAsync(LevelWait wait)
    {
        try
        {
            TimeSpan left = wait.Deadline?.Left(_options.ReadTimeout) ?? _options.ReadTimeout;
            await Hub.WaitUntilHeardAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _options.Clock, wait.Token).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // Those who come later do not wait again: the level works without, and trusts less.
        }

        _isReady = true;
    }

    /// <summary>Reads a record; no value if there is none.</summary>
    public ValueTask<CallResult<ReadOnlyMemory<byte>?>> ReadAsync(string key, in LevelWait wait) => _calls.GetAsync(key, _options.ReadTimeout, wait);

    /// <summary>Reads a record if the cache is prompt; false if it may have to be waited for.</summary>
    public bool TryReadNow(string key, out CallResult<byte[]?> result) => _calls.TryGetNow(key, out result);

    public ValueTask<CallResult<bool>> RefreshAsync(string key, in LevelWait wait) => _calls.RefreshAsync(key, _options.WriteTimeout, wait);

    public void CountDamaged(string key)
    {
        Counters.CountDamaged();
        _log.Damaged(key);
    }

    /// <summary>When an entry expires, in the words of IDistributedCache; null if it has expired.</summary>
    public DistributedCacheEntryOptions? Expiry(LevelExpiration expiration)
    {
        TimeSpan? relative = null;
        if (expiration.Deadline != long.MaxValue)
        {
            long leftMs = expiration.Deadline - _options.Clock.GetUtcNow().ToUnixTimeMilliseconds();
            if (leftMs <= 0)
            {
                return null;
            }

            // Relative: the clock of whoever keeps it may be another one.
            relative = TimeSpan.FromMilliseconds(Math.Min(leftMs, (long)TimeSpan.FromDays(36_500).TotalMilliseconds));
        }

        TimeSpan? sliding = expiration.SlidingMs > 0 ? TimeSpan.FromMilliseconds(expiration.SlidingMs) : null;
        if (_lastExpiry is { } last && last.AbsoluteExpirationRelativeToNow == relative && last.SlidingExpiration == sliding)
        {
            return last;
        }

        return _lastExpiry = new() { AbsoluteExpirationRelativeToNow = relative, SlidingExpiration = sliding };
    }

    /// <summary>The era that entries must be of; 0 if it cannot be told now.</summary>
    /// <param name="mustAsk">True if what is known is not new enough.</param>
    /// <param name="wait">When its time is over, the era cannot be told.</param>
    public ValueTask<ulong> GetEraAsync(bool mustAsk, in LevelWait wait)
    {
        return !mustAsk && TryKnowEra(out ulong era) ? new(era) : WaitForEraAsync(wait);
    }

    /// <summary>True if the era that entries must be of need not be asked for.</summary>
    public bool TryKnowEra(out ulong era)
    {
        era = KnownEra;
        return era != 0 && (_isPrivate || (Hub.HasChannel && Hub.IsTrusted) || _clock.NowMs < Volatile.Read(ref _eraFreshUntilMs));
    }

    /// <summary>Drops everything: begins a new era.</summary>
    public async ValueTask<LevelStatus> BeginEraAsync(LevelWait wait)
    {
        try
        {
            Ledger.OnNewEra();
            return await WriteNewEraAsync(wait).ConfigureAwait(false);
        }
        finally
        {
            Hub.TellAll();
        }
    }

    /// <summary>Tells other machines of a change that the ledger had no part in.</summary>
    public async ValueTask<LevelStatus> PublishAsync(string key, LocalLease lease, LevelWait wait) =>
        _channel is { ReportsChanges: false }
            ? await Ledger.ApplyAsync(key, new PendingChange(ChangeKind.Publish), lease, wait).ConfigureAwait(false)
            : LevelStatus.Done;

    // Not awaited: whoever found too many changes waits for his own. It does not throw.
    private void OnOverflow() => _ = BeginEraAsync(CancellationToken.None).AsTask();

    private async ValueTask<LevelStatus> WriteNewEraAsync(LevelWait wait)
    {
        var change = new PendingChange(ChangeKind.Era) { Number = DistributedRecords.NewNumber() };
        SetEra(change.Number);
        LevelStatus status = await Ledger
            .ApplyAsync(Records.EraKey, change, lease: null, wait).ConfigureAwait(false);
        if (KnownEra != change.Number)
        {
            // Another one was heard of meanwhile. Which of the two came last is asked when it matters.
            SetEra(0);
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

    // One asks for all who want to know. None of them can cancel it, and each waits as long as he likes.
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

    private async ValueTask<ulong> AskEraAsync()
    {
        int version;
        lock (_eraGate)
        {
            version = _eraVersion;
        }

        if (Ledger.TryRead(Records.EraKey, out PendingChange? owed) && owed is null or { Kind: ChangeKind.Era })
        {
            if (owed is null)
            {
                return 0;
            }

            SetEra(owed.Number);
            return owed.Number;
        }

        CallResult<ReadOnlyMemory<byte>?> result = await ReadAsync(Records.EraKey, CancellationToken.None).ConfigureAwait(false);
        if (result.Status != CallStatus.Done)
        {
            return 0;
        }

        if (result.Value is { } record)
        {
            if (DistributedRecords.TryReadEra(Records.EraKey, record.Span, out ulong era))
            {
                return Learn(era, version);
            }

            CountDamaged(Records.EraKey);
        }

        // First levels may keep what they have: nobody dropped anything, the second level lost it.
        await WriteNewEraAsync(CancellationToken.None).ConfigureAwait(false);
        return KnownEra;
    }

    private ulong Learn(ulong era, int version)
    {
        ulong known;
        lock (_eraGate)
        {
            known = _era;
            if (_eraVersion != version)
            {
                // This process began one meanwhile, or heard of another's; what was read may be older.
                return known;
            }

            _era = era;
            Volatile.Write(ref _eraFreshUntilMs, _clock.NowMs + (long)_options.EraInterval.TotalMilliseconds);
        }

        if (known != 0 && known != era)
        {
            // Others dropped everything, and no channel told.
            Hub.TellAll();
        }

        return era;
    }

    private ulong HashOf(string key) =>
        Records.IsValueKey(key, out ReadOnlySpan<char> text) ? Hasher.Hash(text)
        : Records.IsStampKey(key, out ReadOnlySpan<char> tag) ? TagHasher.Hash(tag)
        : 0;

    private void OnChangedElsewhere(string? key)
    {
        if (key is not null)
        {
            Ledger.OnChangedElsewhere(key);
            return;
        }

        lock (_eraGate)
        {
            _eraVersion++;
            _era = 0;
        }

        Ledger.OnAllChangedElsewhere();
    }

    private void OnProven()
    {
        Ledger.OnProven();
        if (ReferenceEquals(_channel, _cache))
        {
            // Whoever tells that it works need not be left alone, and others wait for what is owed.
            EndBreaks();
            Ledger.Hasten();
        }
    }

    // Ends other machines' lease, changes the key, tells other machines. If a part fails, all is done again later.
    private async ValueTask<AttemptResult> AttemptAsync(string key, PendingChange change)
    {
        bool areLeasesEnded = true;

        // Who writes with the lease keeps it until the value is there: in between, another would get it and make the value again.
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
                // Of the era that is known now: an unknown one makes it count as missing, and another new stamp takes its place.
                record = DistributedRecords.Stamp(key, KnownEra, change.Number);
                expiry = new() { SlidingExpiration = _options.StampLifetime };
                break;
            case ChangeKind.Era:
                record = DistributedRecords.Era(key, change.Number);
                expiry = new() { SlidingExpiration = _options.StampLifetime };
                break;
            default:
                record = null;
                break;
        }

        // A write that is too late leaves nothing of what was there before either.
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
