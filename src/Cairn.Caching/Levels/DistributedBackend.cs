using System.Buffers;
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

    private readonly IDistributedCache _cache;
    private readonly IBufferDistributedCache? _bufferCache;
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedLevelOptions _options;
    private readonly LevelLog _log;
    private readonly MonotonicClock _clock;
    private readonly BoundedCalls _calls;
    private readonly BoundedCalls _leaseCalls;
    private readonly BoundedCalls _channelCalls;

    // True if no other process can change what is in the cache.
    private readonly bool _isPrivate;
    private readonly Lock _eraGate = new();
    private Task<ulong>? _eraQuestion;
    private ulong _era;
    private int _eraVersion;
    private long _eraFreshUntilMs;
    private int _users;

    private DistributedBackend(
        IDistributedCache cache, ICacheLeases? leases, ICacheInvalidation? channel, DistributedLevelOptions options, ILogger logger)
    {
        _cache = cache;
        _bufferCache = cache as IBufferDistributedCache;
        _channel = channel;
        Leases = leases;
        _options = options;
        _log = new LevelLog(logger, options);
        _clock = new(options.Clock);
        _isPrivate = string.Equals(cache.GetType().FullName, InMemoryType, StringComparison.Ordinal);
        bool isInline = _isPrivate || options.IsInMemory;
        _calls = new("the cache", isInline, options, Counters, _log);
        _leaseCalls = new("leases", isInline: false, options, Counters, _log);
        _channelCalls = new("messages of changes", isInline: false, options, Counters, _log);
        Records = new(options.Name);
        Hearing = new(isNeeded: channel is not null, options);
        Ledger = new(options, Counters, _log, Hearing, AttemptAsync, () => _calls.Breaker.WaitMs, _calls.Breaker.EndBreak, OnOverflow);
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

    public ICacheLeases? Leases { get; }

    public KeyHasher Hasher { get; } = KeyHasher.Random();

    public KeyHasher TagHasher { get; } = KeyHasher.Random();

    public CircuitBreaker Breaker => _calls.Breaker;

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
                backend.Hub.Start();
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

    /// <summary>Reads a record; no value if there is none.</summary>
    public ValueTask<CallResult<ReadOnlyMemory<byte>?>> ReadAsync(string key, TimeSpan timeout, CancellationToken cancellationToken) =>
        _bufferCache is null
            ? _calls.CallAsync(
                (Cache: _cache, key),
                static async (state, token) =>
                {
                    // A conversion of null would be an empty record.
                    byte[]? record = await state.Cache.GetAsync(state.key, token).ConfigureAwait(false);
                    return record is null ? null : (ReadOnlyMemory<byte>?)record;
                },
                timeout,
                cancellationToken)
            : _calls.CallAsync(
                (Cache: _bufferCache, key),
                static async (state, token) =>
                {
                    // Its own buffer: a call that was given up may still write to it.
                    var buffer = new ArrayBufferWriter<byte>();
                    bool isFound = await state.Cache.TryGetAsync(state.key, buffer, token).ConfigureAwait(false);
                    return isFound ? buffer.WrittenMemory : (ReadOnlyMemory<byte>?)null;
                },
                timeout,
                cancellationToken);

    public async ValueTask<bool> RefreshAsync(string key, CancellationToken cancellationToken)
    {
        CallResult<bool> result = await _calls.CallAsync(
            (Cache: _cache, key),
            static async (state, token) =>
            {
                await state.Cache.RefreshAsync(state.key, token).ConfigureAwait(false);
                return true;
            },
            _options.WriteTimeout,
            cancellationToken).ConfigureAwait(false);
        return result.Status == CallStatus.Done;
    }

    /// <summary>Asks the leases of others; the default of the type if they cannot be asked.</summary>
    public ValueTask<CallResult<T>> CallLeasesAsync<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, TimeSpan timeout, CancellationToken cancellationToken) =>
        _leaseCalls.CallAsync(state, call, timeout, cancellationToken);

    public void CountDamaged(string key)
    {
        Counters.CountDamaged();
        _log.Damaged(key);
    }

    /// <summary>When an entry expires, in the words of IDistributedCache; null if it has expired.</summary>
    public DistributedCacheEntryOptions? Expiry(LevelExpiration expiration)
    {
        var options = new DistributedCacheEntryOptions();
        if (expiration.Deadline != long.MaxValue)
        {
            long leftMs = expiration.Deadline - _options.Clock.GetUtcNow().ToUnixTimeMilliseconds();
            if (leftMs <= 0)
            {
                return null;
            }

            // Relative: the clock of whoever keeps it may be another one.
            options.AbsoluteExpirationRelativeToNow = TimeSpan.FromMilliseconds(Math.Min(leftMs, (long)TimeSpan.FromDays(36_500).TotalMilliseconds));
        }

        if (expiration.SlidingMs > 0)
        {
            options.SlidingExpiration = TimeSpan.FromMilliseconds(expiration.SlidingMs);
        }

        return options;
    }

    /// <summary>The era that entries must be of; 0 if it cannot be told now.</summary>
    /// <param name="mustAsk">True if what is known is not new enough.</param>
    /// <param name="deadline">Ends the wait: then it cannot be told.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public ValueTask<ulong> GetEraAsync(bool mustAsk, Deadline deadline, CancellationToken cancellationToken)
    {
        ulong era = KnownEra;
        if (era != 0 && !mustAsk && (_isPrivate || (Hub.HasChannel && Hub.IsTrusted) || _clock.NowMs < Volatile.Read(ref _eraFreshUntilMs)))
        {
            return new(era);
        }

        return WaitForEraAsync(deadline, cancellationToken);
    }

    /// <summary>Drops everything: begins a new era.</summary>
    public async ValueTask<LevelStatus> BeginEraAsync(CancellationToken cancellationToken)
    {
        try
        {
            Ledger.OnNewEra();
            return await WriteNewEraAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Hub.TellAll();
        }
    }

    /// <summary>Tells other machines of a change that the ledger had no part in.</summary>
    public async ValueTask<LevelStatus> PublishAsync(string key, LocalLease lease, TimeSpan timeout, CancellationToken cancellationToken) =>
        _channel is { ReportsChanges: false }
            ? await Ledger.ApplyAsync(key, new PendingChange(ChangeKind.Publish), lease, timeout, cancellationToken).ConfigureAwait(false)
            : LevelStatus.Done;

    // Not awaited: whoever found too many changes waits for his own. It does not throw.
    private void OnOverflow() => _ = BeginEraAsync(CancellationToken.None).AsTask();

    private async ValueTask<LevelStatus> WriteNewEraAsync(CancellationToken cancellationToken)
    {
        var change = new PendingChange(ChangeKind.Era) { Number = DistributedRecords.NewNumber() };
        SetEra(change.Number);
        LevelStatus status = await Ledger
            .ApplyAsync(Records.EraKey, change, lease: null, _options.WriteTimeout, cancellationToken).ConfigureAwait(false);
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
    private async ValueTask<ulong> WaitForEraAsync(Deadline deadline, CancellationToken cancellationToken)
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
            return await question.WaitAsync(deadline.Left, _options.Clock, cancellationToken).ConfigureAwait(false);
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

        CallResult<ReadOnlyMemory<byte>?> result = await ReadAsync(Records.EraKey, _options.ReadTimeout, CancellationToken.None).ConfigureAwait(false);
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
            _calls.Breaker.EndBreak();
            _leaseCalls.Breaker.EndBreak();
            _channelCalls.Breaker.EndBreak();
            Ledger.Hasten();
        }
    }

    // Ends other machines' lease, changes the key, tells other machines. If a part fails, all is done again later.
    private async ValueTask<AttemptResult> AttemptAsync(string key, PendingChange change)
    {
        bool areLeasesEnded = true;

        // Who writes with the lease keeps it until the value is there: in between, another would get it and make the value again.
        if (Leases is { ChangesEndLeases: false } && change.Kind is ChangeKind.Write or ChangeKind.Remove
            && change.Holder is not { IsOnServer: true })
        {
            CallResult<bool> ended = await _leaseCalls.CallAsync(
                (Leases, key),
                static async (state, token) =>
                {
                    await state.Leases.EndAsync(state.key, token).ConfigureAwait(false);
                    return true;
                },
                _options.WriteTimeout,
                CancellationToken.None).ConfigureAwait(false);
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
            CallResult<bool> told = await _channelCalls.CallAsync(
                (Channel: _channel, Change: new CacheChange(key, IsPrefix: false, Hub.Id)),
                static async (state, token) =>
                {
                    await state.Channel.PublishAsync(state.Change, token).ConfigureAwait(false);
                    return true;
                },
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
            ? _calls.CallAsync(
                (Cache: _cache, key),
                static async (state, token) =>
                {
                    await state.Cache.RemoveAsync(state.key, token).ConfigureAwait(false);
                    return true;
                },
                _options.WriteTimeout,
                CancellationToken.None)
            : _calls.CallAsync(
                (Backend: this, key, record, expiry),
                static async (state, token) =>
                {
                    if (state.Backend._bufferCache is { } bufferCache)
                    {
                        await bufferCache.SetAsync(state.key, new ReadOnlySequence<byte>(state.record), state.expiry, token).ConfigureAwait(false);
                    }
                    else
                    {
                        await state.Backend._cache.SetAsync(state.key, state.record, state.expiry, token).ConfigureAwait(false);
                    }

                    return true;
                },
                _options.WriteTimeout,
                CancellationToken.None);
    }
}
