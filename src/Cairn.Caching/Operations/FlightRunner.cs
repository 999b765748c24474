using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Operations;

// The path of a read for which the first level has no fresh value. All callers that want the same value meanwhile wait for one flight:
//
//   first level again -> second level -> lease -> factory -> second level, with the lease -> first level
//
// A flight takes one of two paths. RunAsync is the general one. RunPlainAsync is for most misses, which need only the factory and its keeping.
// It does the same with fewer steps, without an asynchronous method unless the factory or the second level waits (docs/decisions/0037).
internal sealed class FlightRunner
{
    private readonly CacheParts _parts;
    private readonly TagReader _tags;
    private readonly EntryConverter _converter;
    private readonly LocalReader _local;
    private readonly SharedReader _shared;
    private readonly EntryKeeper _keeper;
    private readonly FailSafe _failSafe;
    private readonly FlightWaiter _waiter;
    private readonly FactoryCaller _factories;

    public FlightRunner(CacheParts parts, TagReader tags, EntryConverter converter, LocalReader local, SharedReader shared, EntryKeeper keeper)
    {
        _parts = parts;
        _tags = tags;
        _converter = converter;
        _local = local;
        _shared = shared;
        _keeper = keeper;
        _failSafe = new FailSafe(parts, tags, converter, keeper);
        _waiter = new FlightWaiter(parts, _failSafe);
        _factories = new FactoryCaller(parts, converter);
    }

    /// <summary>Does the same as <see cref="CreateAsync{TFactory, TState, T}"/> with a factory of Microsoft's form.</summary>
    /// <remarks>Not inlined: otherwise every hit clears the request's place on the stack, because the caller's method holds it.</remarks>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public ValueTask<T> CreateAsync<TState, T>(
        string key,
        ulong hash,
        Func<TState, CancellationToken, ValueTask<T>> factory,
        TState state,
        EntryPolicy policy,
        IEnumerable<string>? tags,
        CancellationToken cancellationToken) =>
        CreateAsync(key, hash, new CreateRequest<PlainFactory<TState, T>, TState, T>(new(factory), state, policy, tags), cancellationToken);

    /// <summary>Does the same as <see cref="CreateAsync{TFactory, TState, T}"/> with a factory that decides how its value is cached.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public ValueTask<T> CreateAsync<TState, T>(
        string key,
        ulong hash,
        Func<TState, CacheFactoryContext<T>, CancellationToken, ValueTask<T>> factory,
        TState state,
        EntryPolicy policy,
        IEnumerable<string>? tags,
        CancellationToken cancellationToken) =>
        CreateAsync(key, hash, new CreateRequest<AdaptiveFactory<TState, T>, TState, T>(new(factory), state, policy, tags), cancellationToken);

    /// <summary>Returns the value of a key for which the first level has no hit: from a level, from another caller's flight, or from the factory.</summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">The hash of the key.</param>
    /// <param name="request">How the value is created and cached.</param>
    /// <param name="cancellationToken">Ends the caller's wait.</param>
    /// <param name="isSecondTry">True if the value of a joined flight was too old: then the next one is returned in any case.</param>
    /// <param name="spent">The deadline of the call's earlier steps on the second level; null for none.</param>
    public ValueTask<T> CreateAsync<TFactory, TState, T>(
        string key,
        ulong hash,
        CreateRequest<TFactory, TState, T> request,
        CancellationToken cancellationToken,
        bool isSecondTry = false,
        LevelDeadline? spent = null)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        _parts.ThrowIfClosed();
        if (cancellationToken.IsCancellationRequested)
        {
            return CancelledAsync<T>(cancellationToken);
        }

        if (!_parts.IsCacheable(key))
        {
            return _factories.CallUncachedAsync(key, request, cancellationToken);
        }

        bool hasLevel = _parts.HasLevel;
        if (hasLevel && spent is null && !_parts.SecondLevel.IsReady)
        {
            return CreateWhenReadyAsync(key, hash, request, cancellationToken);
        }

        // Taken before any search for a value: an expired value counts only if no change of the key follows this mark.
        EntryPolicy policy = request.Policy;
        ChangeMark before = _parts.Changes.Mark(hash);
        LocalEntry? stale = null;
        if (policy.ReadsLocal && _local.FindUsable(hash, key) is { } entry && _converter.TryTake(entry, out T? value))
        {
            long now = _parts.Clock.NowMs();
            if (now < entry.FreshUntil)
            {
                _parts.Counters.Add(CacheCount.LocalHit);
                if (now >= entry.QuietUntil)
                {
                    _local.Slide(entry, now, policy);
                    if (entry.Extras is { } extras && now >= extras.EagerAt)
                    {
                        Refresh(entry, before, request);
                    }
                }

                return new ValueTask<T>(value!);
            }

            if (policy.RunsFactory && now < CacheClock.Later(entry.FreshUntil, policy.RevalidateMs))
            {
                Refresh(entry, before, request);
                _parts.Counters.Add(CacheCount.StaleServed);
                return new ValueTask<T>(value!);
            }

            stale = entry;
        }

        bool hasLooked = false;
        bool isUseless = false;
        if (hasLevel && policy.ReadsShared && _shared.TryReadNow(key, hash, policy, ref stale, out hasLooked, out isUseless, out T? read))
        {
            return new ValueTask<T>(read!);
        }

        if (hasLevel && !policy.ReadsLocal)
        {
            _parts.Coherence.TryCatchUp(hash); // Otherwise this call could join a flight that another process's change has ended.
        }

        Flight? scope = FlightScope.Current;
        if (scope is not null && policy.RunsFactory && FlightScope.IsWithin(scope, key, hash))
        {
            return ValueTask.FromException<T>(FlightScope.RefusalOfItself(key));
        }

        var flight = new ValueFlight<T>(key, hash, (int)policy.Flags)
        {
            Parent = scope,
            Began = _parts.BeganNow(),
            Before = before,
            Stale = stale,
            ReplacesUseless = isUseless,
        };
        if (cancellationToken.CanBeCanceled)
        {
            flight.AllowCancellation();
        }

        if (_parts.Flights.JoinOrAdd(flight, OldestOfUse(hash)) is { } joined)
        {
            _parts.Counters.Add(CacheCount.Joined);
            return JoinAsync(joined, scope, request, isSecondTry, cancellationToken);
        }

        // A factory that blocks must not hold its caller beyond the caller's time-outs.
        bool hasTimeout = policy.HardTimeout != Timeout.InfiniteTimeSpan || (policy.SoftTimeout != Timeout.InfiniteTimeSpan && policy.FailSafeMs > 0);
        ValueTask run;
        if (!hasTimeout && !TFactory.IsAdaptive && ExecutionContext.Capture() is { } outer
            && IsPlain(flight, policy, request.Tags, hasLooked, out ChangeMark mark, out ILevelLease? lease))
        {
            run = RunPlainAsync(flight, request, outer, new KeepTerms(policy, mark, lease));
        }
        else
        {
            flight.Deadline = spent ?? _parts.SecondLevel.NewDeadline();
            run = hasTimeout
                ? RunElsewhereAsync(flight, request, isRefresh: false, hasLooked)
                : RunAsync(flight, request, isRefresh: false, hasLooked);
        }

        if (flight.HasEndedWell && run.IsCompletedSuccessfully)
        {
            return flight.OutcomeAsync();
        }

        return _waiter.WaitAsync(flight, policy, isOwner: true, cancellationToken);
    }

    // The cancelled task that ValueTask.FromCanceled returns throws another type.
    private static async ValueTask<T> CancelledAsync<T>(CancellationToken cancellationToken)
    {
        await default(ValueTask).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        return default!;
    }

    // A flight that begins before the invalidations of other processes arrive cannot be joined afterwards: the key may have changed without
    // notice. So the first callers of a process wait until they arrive, within the time for the second level, and share a later flight.
    private async ValueTask<T> CreateWhenReadyAsync<TFactory, TState, T>(
        string key, ulong hash, CreateRequest<TFactory, TState, T> request, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        LevelDeadline deadline = _parts.SecondLevel.NewDeadline()!;
        try
        {
            await _parts.SecondLevel.WhenReadyAsync(new LevelWait(deadline, cancellationToken)).ConfigureAwait(false);
        }
        catch (OperationCanceledException cancelled) when (cancellationToken.IsCancellationRequested)
        {
            throw FlightWaiter.OfCaller(cancelled, cancellationToken);
        }

        return await CreateAsync(key, hash, request, cancellationToken, isSecondTry: false, spent: deadline).ConfigureAwait(false);
    }

    // Waits for another caller's flight. It began after every acknowledged change of the key. But one of its tags may have been invalidated
    // after the flight began and before this call; then its value is too old, and a second flight is joined or started, which began late
    // enough.
    private async ValueTask<T> JoinAsync<TFactory, TState, T>(
        ValueFlight<T> joined, Flight? scope, CreateRequest<TFactory, TState, T> request, bool isSecondTry, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ValueTask<T> waiting = scope is null
            ? _waiter.WaitAsync(joined, request.Policy, isOwner: false, cancellationToken)
            : _waiter.WaitWithinAsync(joined, scope, request.Policy, cancellationToken);
        T value = await waiting.ConfigureAwait(false);
        return isSecondTry || !joined.HasEnded || joined.Tags is not { } stamps || (!stamps.HasUnknown && _tags.AreCurrent(stamps))
            ? value
            : await CreateAsync(joined.Key, joined.Hash, request, cancellationToken, isSecondTry: true, spent: joined.Deadline).ConfigureAwait(false);
    }

    // Returns the earliest second in which a flight may have begun if it is to be joined.
    private uint OldestOfUse(ulong hash) =>
        !_parts.HasLevel || _parts.Coherence.AllowedAgeMs is not (> 0 and var allowed) || _parts.Coherence.TryCatchUp(hash)
            ? 0
            : (uint)((_parts.Clock.NowMs() - allowed) / 1000) + 1;

    // Starts one flight in the background: for a hit that is due for a refresh, or for an expired value that is served meanwhile.
    private void Refresh<TFactory, TState, T>(LocalEntry entry, ChangeMark before, in CreateRequest<TFactory, TState, T> request)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        if (!request.Policy.RunsFactory || !entry.TryBeginRefresh())
        {
            return;
        }

        var flight = new ValueFlight<T>(entry.Key, entry.Hash, (int)request.Policy.Flags)
        {
            Began = _parts.BeganNow(),
            Deadline = _parts.SecondLevel.NewDeadline(),
            Before = before,
            Stale = entry,
        };
        if (_parts.Flights.JoinOrAdd(flight) is { } joined)
        {
            joined.Leave();
            entry.EndRefresh();
            return;
        }

        _parts.Counters.Add(CacheCount.Refresh);
        _ = RunElsewhereAsync(flight, request, isRefresh: true, hasLooked: false).AsTask();
    }

    // A separate method, so that the closure is allocated only when this path is taken.
    private ValueTask RunElsewhereAsync<TFactory, TState, T>(
        ValueFlight<T> flight, CreateRequest<TFactory, TState, T> request, bool isRefresh, bool hasLooked)
        where TFactory : struct, ICacheFactory<TState, T> =>
        new(Task.Run(() => RunAsync(flight, request, isRefresh, hasLooked).AsTask(), CancellationToken.None));

    private async ValueTask RunAsync<TFactory, TState, T>(
        ValueFlight<T> flight, CreateRequest<TFactory, TState, T> request, bool isRefresh, bool hasLooked)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ILevelLease? lease = null;
        try
        {
            // Taken once the flight can be found: a caller that joins later began after every change that precedes the mark.
            ChangeMark mark = _parts.Changes.Mark(flight.Hash);
            hasLooked = hasLooked && _parts.Coherence.IsUnchanged(flight.Before, flight.Hash); // Otherwise another process may have created the value since.
            if (!isRefresh && request.Policy.ReadsLocal
                && await _local.FindFreshAsync(flight).ConfigureAwait(false) is { } fresh && TrySucceed(flight, fresh, CacheCount.LocalHit))
            {
                return;
            }

            if (_parts.HasLevel && request.Policy.ReadsShared && !hasLooked
                && await _shared.ReadFreshAsync(flight, mark, request.Policy, isRefresh).ConfigureAwait(false) is { } read
                && TrySucceed(flight, read, CacheCount.SharedHit))
            {
                return;
            }

            _parts.Counters.Add(CacheCount.Miss);
            if (!request.Policy.RunsFactory)
            {
                flight.Succeed(default!);
                return;
            }

            if (_parts.HasLevel && _parts.SecondLevel.HasLeases && request.Policy.WritesShared)
            {
                // A second pass replaces the existing entry if the value that another process has created meanwhile cannot be used here. It is
                // repeated when another process has changed the entry and the new value cannot be used either.
                LeaseResult result;
                bool replaces = false;
                long startedAt = _parts.Clock.NowMs();
                do
                {
                    replaces = replaces || flight.Stale is not null || flight.ReplacesUseless || !request.Policy.ReadsShared;
                    result = await _parts.SecondLevel.AcquireLeaseAsync(
                        flight.Key, flight.Hash, replaces, LeaseWaitSince(startedAt, request.Policy), flight.Wait).ConfigureAwait(false);
                    lease = result.Lease;
                    bool mayBeMade = result.Status == LevelStatus.Hit || result.HasWaited || replaces || (hasLooked && lease is null)
                        || !_parts.Coherence.IsUnchanged(mark, flight.Hash);
                    if (request.Policy.ReadsShared && mayBeMade)
                    {
                        // Another process has created the value meanwhile, or has replaced the entry that this flight was to replace.
                        mark = _parts.Coherence.Mark(flight.Hash);
                        if (await _shared.ReadFreshAsync(flight, mark, request.Policy, isRefresh).ConfigureAwait(false) is { } made
                            && TrySucceed(flight, made, CacheCount.SharedHit))
                        {
                            return;
                        }
                    }
                }
                while (result.Status == LevelStatus.Hit && (replaces || flight.Stale is not null || flight.ReplacesUseless));
            }

            await MakeAsync(flight, request, mark, lease, isRefresh).ConfigureAwait(false);
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            _failSafe.Fail(flight, request.Policy, fault, isRefresh);
        }
        finally
        {
            if (lease is not null)
            {
                await lease.DisposeAsync().ConfigureAwait(false);
            }

            _parts.Flights.Remove(flight);
            if (isRefresh)
            {
                _failSafe.Postpone(flight.Stale!, request.Policy); // No effect if the first level holds another entry.
            }
        }
    }

    private TimeSpan LeaseWaitSince(long startedAtMs, EntryPolicy policy) => policy.LeaseWait == Timeout.InfiniteTimeSpan
        ? Timeout.InfiniteTimeSpan
        : TimeSpan.FromMilliseconds(Math.Max(0, policy.LeaseWait.TotalMilliseconds - (_parts.Clock.NowMs() - startedAtMs)));

    private async ValueTask MakeAsync<TFactory, TState, T>(
        ValueFlight<T> flight, CreateRequest<TFactory, TState, T> request, ChangeMark mark, ILevelLease? lease, bool isRefresh)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        IReadOnlyList<string>? topics = request.Policy.Options.Topics;
        TagStamps? stamps = request.Tags is null && topics is null
            ? null
            : await _tags.CaptureAsync(request.Tags, topics, flight.Wait).ConfigureAwait(false);
        CacheFactoryContext<T>? context = null;
        ChangeMark[]? marks = null;
        if (TFactory.IsAdaptive)
        {
            context = _factories.ContextOf(flight, request.Policy);
            marks = _parts.Coherence.MarkAll();
        }

        if (stamps is not null && _parts.Options.ReportTagMetrics)
        {
            _parts.Metrics.CountTags(stamps, "miss");
        }

        flight.Deadline?.Pause();
        T value;
        try
        {
            value = await _factories.CallAsync(flight, request, context).ConfigureAwait(false);
        }
        catch (Exception fault) when (context is not null && !ReferenceEquals(context.Options, request.Policy.Options))
        {
            // The factory has changed the options, which also decide whether an expired value is served.
            _failSafe.Fail(flight, request.Policy.With(context.Options), fault, isRefresh);
            return;
        }

        flight.Deadline?.Resume();
        bool isKept = true;
        if (context is not null)
        {
            request = request with { Policy = request.Policy.With(context.Options) };
            isKept = context.IsCached;
            if (isKept && (context.Tags is not null || !ReferenceEquals(topics, request.Policy.Options.Topics)))
            {
                stamps = await _tags.CaptureLateAsync(stamps, context.Tags, request.Policy.Options.Topics, marks!, flight.Wait).ConfigureAwait(false);
                isKept = stamps is not null;
            }
        }

        flight.Tags = stamps;
        if (!isKept || (value is null && !request.Policy.CachesNull))
        {
            flight.Succeed(value);
            return;
        }

        var metadata = new EntryMetadata(stamps, context?.ETag, context?.LastModified);
        await _keeper.KeepAsync(flight, value, new KeepTerms(request.Policy, mark, lease), metadata).ConfigureAwait(false);
    }

    // Returns false if the entry has another type or cannot be deserialized.
    private bool TrySucceed<T>(ValueFlight<T> flight, LocalEntry entry, CacheCount count)
    {
        if (!_converter.TryTake(entry, out T? value))
        {
            return false;
        }

        _parts.Counters.Add(count);
        flight.Tags = entry.Tags;
        flight.Succeed(value!, _converter.CopyOf<T>(entry));
        return true;
    }

    // Returns whether a miss needs only the call of the factory and the keeping of its value. That is so without tags, if the first level has
    // received no value since the flight can be found. With a second level, it also must have been read without waiting, must not have changed
    // since, and must grant its lease at once: then only the write may have to be awaited.
    private bool IsPlain<T>(
        ValueFlight<T> flight, EntryPolicy policy, IEnumerable<string>? names, bool hasLooked, out ChangeMark mark, out ILevelLease? lease)
    {
        mark = default;
        lease = null;
        if (names is not null || policy.Options.Topics is not null || !policy.RunsFactory
            || (policy.ReadsLocal && _parts.FirstLevel.Find(flight.Hash, flight.Key) is not null))
        {
            return false;
        }

        if (!_parts.HasLevel)
        {
            return true;
        }

        if (!hasLooked || !policy.WritesShared || flight.Stale is not null || flight.ReplacesUseless)
        {
            return false;
        }

        // Taken once the flight can be found, as in RunAsync.
        mark = _parts.Coherence.Mark(flight.Hash);
        lease = _parts.SecondLevel.TryAcquireNow(flight.Key, flight.Hash);
        if (lease is null || _parts.Coherence.IsUnchanged(flight.Before, flight.Hash))
        {
            return lease is not null;
        }

        Return(lease);
        lease = null;
        return false;
    }

    // RunAsync and MakeAsync for a plain flight: asynchronous only if the factory or the second level is.
    private ValueTask RunPlainAsync<TFactory, TState, T>(
        ValueFlight<T> flight, in CreateRequest<TFactory, TState, T> request, ExecutionContext outer, in KeepTerms terms)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        _parts.Counters.Add(CacheCount.Miss);
        ValueTask<T> making;
        try
        {
            making = _factories.CallAsync(flight, request, context: null);
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            making = ValueTask.FromException<T>(fault);
        }

        // Called before the context is restored, so that foreign code that runs here still belongs to the flight.
        ValueTask run = EndPlainAsync(flight, making, terms);

        // Changes that the factory made to its execution context end with it, as in an asynchronous method.
        ExecutionContext.Restore(outer);
        return run;
    }

    private ValueTask EndPlainAsync<T>(ValueFlight<T> flight, ValueTask<T> making, in KeepTerms terms)
    {
        if (!making.IsCompletedSuccessfully)
        {
            return EndLaterAsync(flight, KeepLaterAsync(flight, making, terms), terms.Policy, terms.Lease);
        }

        try
        {
            ValueTask keeping = KeepMadeAsync(flight, making.Result, terms);
            if (!keeping.IsCompletedSuccessfully)
            {
                return EndLaterAsync(flight, keeping, terms.Policy, terms.Lease);
            }
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            _failSafe.Fail(flight, terms.Policy, fault, isRefresh: false);
        }

        if (terms.Lease is not null)
        {
            Return(terms.Lease);
        }

        _parts.Flights.Remove(flight);
        return default;
    }

    private async ValueTask EndLaterAsync<T>(ValueFlight<T> flight, ValueTask keeping, EntryPolicy policy, ILevelLease? lease)
    {
        try
        {
            await keeping.ConfigureAwait(false);
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            _failSafe.Fail(flight, policy, fault, isRefresh: false);
        }
        finally
        {
            if (lease is not null)
            {
                await lease.DisposeAsync().ConfigureAwait(false);
            }

            _parts.Flights.Remove(flight);
        }
    }

    private async ValueTask KeepLaterAsync<T>(ValueFlight<T> flight, ValueTask<T> making, KeepTerms terms) =>
        await KeepMadeAsync(flight, await making.ConfigureAwait(false), terms).ConfigureAwait(false);

    private ValueTask KeepMadeAsync<T>(ValueFlight<T> flight, T value, in KeepTerms terms)
    {
        if (terms.Lease is not null && (value is not null || terms.Policy.CachesNull))
        {
            return _keeper.KeepAsync(flight, value, terms, default);
        }

        _keeper.KeepPlain(flight, value, terms.Policy);
        return default;
    }

    // Returns the lease without awaiting it: no caller depends on the result, and it does not throw.
    private static void Return(ILevelLease lease)
    {
        ValueTask returning = lease.DisposeAsync();
        if (!returning.IsCompletedSuccessfully)
        {
            _ = returning.AsTask();
        }
    }
}
