using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching;

// The path of a read for which the first level has no fresh value. All callers that want the same value meanwhile wait for one flight:
//
//   first level again -> second level -> lease -> factory -> second level, with the lease -> first level
//
// A flight continues when its callers' time-outs pass. It is cancelled when all its callers have cancelled.
public sealed partial class CairnHybridCache
{
    private ValueTask<T> CreateAsync<TFactory, TState, T>(
        string key,
        ulong hash,
        TFactory factory,
        TState state,
        EntryPolicy policy,
        IEnumerable<string>? tags,
        CancellationToken cancellationToken,
        bool isSecondTry = false,
        LevelDeadline? spent = null)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (cancellationToken.IsCancellationRequested)
        {
            return CancelledAsync<T>(cancellationToken);
        }

        if (!IsCacheable(key))
        {
            return CreateUncachedAsync<TFactory, TState, T>(key, factory, state, policy, cancellationToken);
        }

        if (_hasLevel && spent is null && !_level.IsReady)
        {
            return CreateWhenReadyAsync<TFactory, TState, T>(key, hash, factory, state, policy, tags, cancellationToken);
        }

        // Taken before any search for a value: an expired value counts only if no change of the key follows this mark.
        ChangeMark before = _hasLevel ? _coherence.Mark(hash) : default;
        LocalEntry? stale = null;
        if (policy.ReadsLocal && FindUsable(hash, key) is { } entry && TryTake(entry, out T? value))
        {
            long now = _clock.NowMs();
            if (now < entry.FreshUntil)
            {
                _counters.Add(CacheCount.LocalHit);
                if (now >= entry.QuietUntil)
                {
                    Slide(entry, now, policy);
                    if (entry.Extras is { } extras && now >= extras.EagerAt)
                    {
                        Refresh<TFactory, TState, T>(entry, before, factory, state, policy, tags);
                    }
                }

                return new ValueTask<T>(value!);
            }

            if (policy.RunsFactory && now < CacheClock.Later(entry.FreshUntil, policy.RevalidateMs))
            {
                Refresh<TFactory, TState, T>(entry, before, factory, state, policy, tags);
                _counters.Add(CacheCount.StaleServed);
                return new ValueTask<T>(value!);
            }

            stale = entry;
        }

        bool hasLooked = false;
        bool isUseless = false;
        if (_hasLevel && policy.ReadsShared && TryReadNow(key, hash, policy, ref stale, out hasLooked, out isUseless, out T? read))
        {
            return new ValueTask<T>(read!);
        }

        if (_hasLevel && !policy.ReadsLocal)
        {
            _coherence.TryCatchUp(hash); // Otherwise this call could join a flight that another process's change has ended.
        }

        Flight? scope = FlightScope.Current;
        if (scope is not null && policy.RunsFactory && FlightScope.IsWithin(scope, key, hash))
        {
            return ValueTask.FromException<T>(FlightScope.RefusalOfItself(key));
        }

        var flight = new ValueFlight<T>(key, hash, (int)policy.Flags)
        {
            Parent = scope,
            Began = BeganNow(),
            Before = before,
            Stale = stale,
            ReplacesUseless = isUseless,
        };
        if (cancellationToken.CanBeCanceled)
        {
            flight.AllowCancellation();
        }

        if (_guard.JoinOrAdd(flight, OldestOfUse(hash)) is { } joined)
        {
            _counters.Add(CacheCount.Joined);
            return JoinAsync(joined, scope, factory, state, policy, tags, isSecondTry, cancellationToken);
        }

        // A factory that blocks must not hold its caller beyond the caller's time-outs.
        bool hasTimeout = policy.HardTimeout != Timeout.InfiniteTimeSpan || (policy.SoftTimeout != Timeout.InfiniteTimeSpan && policy.FailSafeMs > 0);
        ValueTask run;
        if (!hasTimeout && !TFactory.IsAdaptive && ExecutionContext.Capture() is { } outer
            && IsPlain(flight, policy, tags, hasLooked, out ChangeMark mark, out ILevelLease? lease))
        {
            run = RunPlainAsync(flight, factory, state, policy, outer, mark, lease);
        }
        else
        {
            flight.Deadline = spent ?? _level.NewDeadline();
            run = hasTimeout
                ? RunElsewhereAsync(flight, factory, state, policy, tags, isRefresh: false, hasLooked)
                : RunAsync(flight, factory, state, policy, tags, isRefresh: false, hasLooked);
        }

        if (flight.HasEndedWell && run.IsCompletedSuccessfully)
        {
            return flight.OutcomeAsync();
        }

        return WaitAsync(flight, policy, isOwner: true, cancellationToken);
    }

    // A flight that begins before the invalidations of other processes arrive cannot be joined afterwards: the key may have changed without
    // notice. So the first callers of a process wait until they arrive, within the time for the second level, and share a later flight.
    private async ValueTask<T> CreateWhenReadyAsync<TFactory, TState, T>(
        string key, ulong hash, TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        LevelDeadline deadline = _level.NewDeadline()!;
        try
        {
            await _level.WhenReadyAsync(new LevelWait(deadline, cancellationToken)).ConfigureAwait(false);
        }
        catch (OperationCanceledException cancelled) when (cancellationToken.IsCancellationRequested)
        {
            throw OfCaller(cancelled, cancellationToken);
        }

        return await CreateAsync<TFactory, TState, T>(
            key, hash, factory, state, policy, tags, cancellationToken, isSecondTry: false, spent: deadline).ConfigureAwait(false);
    }

    // Waits for another caller's flight. It began after every acknowledged change of the key. But one of its tags may have been invalidated
    // after the flight began and before this call; then its value is too old, and a second flight is joined or started, which began late
    // enough.
    private async ValueTask<T> JoinAsync<TFactory, TState, T>(
        ValueFlight<T> joined,
        Flight? scope,
        TFactory factory,
        TState state,
        EntryPolicy policy,
        IEnumerable<string>? tags,
        bool isSecondTry,
        CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ValueTask<T> waiting = scope is null
            ? WaitAsync(joined, policy, isOwner: false, cancellationToken)
            : WaitWithinAsync(joined, scope, policy, cancellationToken);
        T value = await waiting.ConfigureAwait(false);
        return isSecondTry || !joined.HasEnded || joined.Tags is not { } stamps || (!stamps.HasUnknown && AreCurrent(stamps))
            ? value
            : await CreateAsync<TFactory, TState, T>(
                joined.Key, joined.Hash, factory, state, policy, tags, cancellationToken, isSecondTry: true, spent: joined.Deadline).ConfigureAwait(false);
    }

    // A factory waits for another caller's flight, which must not wait for that factory.
    private async ValueTask<T> WaitWithinAsync<T>(ValueFlight<T> joined, Flight scope, EntryPolicy policy, CancellationToken cancellationToken)
    {
        if (!FlightScope.TryBeginWaiting(scope, joined))
        {
            joined.Leave();
            throw FlightScope.RefusalOfEachOther(scope.Key, joined.Key);
        }

        try
        {
            return await WaitAsync(joined, policy, isOwner: false, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            FlightScope.EndWaiting(scope, joined);
        }
    }

    // Waits for a flight as long as the policy allows, then serves an expired value if there is one.
    private async ValueTask<T> WaitAsync<T>(ValueFlight<T> flight, EntryPolicy policy, bool isOwner, CancellationToken cancellationToken)
    {
        Task ended = flight.Ended;
        try
        {
            if (policy.SoftTimeout != Timeout.InfiniteTimeSpan && policy.FailSafeMs > 0 && policy.SoftTimeout < policy.LongestWait)
            {
                if (await EndsWithinAsync(ended, policy.SoftTimeout, cancellationToken).ConfigureAwait(false))
                {
                    return flight.GetResult(isOwner);
                }

                if (TryTakeStale(flight, policy, out T? soft))
                {
                    return soft;
                }

                TimeSpan left = policy.HardTimeout == Timeout.InfiniteTimeSpan ? policy.HardTimeout : policy.HardTimeout - policy.SoftTimeout;
                if (await EndsWithinAsync(ended, left, cancellationToken).ConfigureAwait(false))
                {
                    return flight.GetResult(isOwner);
                }
            }
            else if (await EndsWithinAsync(ended, policy.HardTimeout, cancellationToken).ConfigureAwait(false))
            {
                return flight.GetResult(isOwner);
            }
        }
        catch (OperationCanceledException cancelled) when (cancellationToken.IsCancellationRequested)
        {
            if (!flight.HasEnded)
            {
                flight.Leave();
            }

            throw OfCaller(cancelled, cancellationToken);
        }

        if (TryTakeStale(flight, policy, out T? stale))
        {
            return stale;
        }

        _counters.Add(CacheCount.FactoryTimeout);
        throw new TimeoutException(
            $"The factory of '{flight.Key}' took longer than {policy.HardTimeout} and there is no expired value to serve. It goes on, and its "
            + $"result is kept. The limit is {nameof(CairnEntryOptions.FactoryHardTimeout)}.");
    }

    // Creates exactly this type, as Microsoft's implementation does: some callers compare the type. Timers and tasks throw a derived type.
    private static OperationCanceledException OfCaller(OperationCanceledException cancelled, CancellationToken cancellationToken) =>
        new(cancelled.Message, cancelled, cancellationToken);

    // The cancelled task that ValueTask.FromCanceled returns throws another type.
    private static async ValueTask<T> CancelledAsync<T>(CancellationToken cancellationToken)
    {
        await default(ValueTask).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        return default!;
    }

    private async ValueTask<bool> EndsWithinAsync(Task ended, TimeSpan time, CancellationToken cancellationToken)
    {
        try
        {
            await ended.WaitAsync(time, _clock.Provider, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    // Starts one flight in the background: for a hit that is due for a refresh, or for an expired value that is served meanwhile.
    private void Refresh<TFactory, TState, T>(LocalEntry entry, ChangeMark before, TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        if (!policy.RunsFactory || !entry.TryBeginRefresh())
        {
            return;
        }

        var flight = new ValueFlight<T>(entry.Key, entry.Hash, (int)policy.Flags) { Began = BeganNow(), Deadline = _level.NewDeadline(), Before = before, Stale = entry };
        if (_guard.JoinOrAdd(flight) is { } joined)
        {
            joined.Leave();
            entry.EndRefresh();
            return;
        }

        _counters.Add(CacheCount.Refresh);
        _ = RunElsewhereAsync(flight, factory, state, policy, tags, isRefresh: true, hasLooked: false).AsTask();
    }

    // A separate method, so that the closure is allocated only when this path is taken.
    private ValueTask RunElsewhereAsync<TFactory, TState, T>(
        ValueFlight<T> flight, TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags, bool isRefresh, bool hasLooked)
        where TFactory : struct, ICacheFactory<TState, T> =>
        new(Task.Run(() => RunAsync(flight, factory, state, policy, tags, isRefresh, hasLooked).AsTask(), CancellationToken.None));

    private async ValueTask RunAsync<TFactory, TState, T>(
        ValueFlight<T> flight, TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags, bool isRefresh, bool hasLooked)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        ILevelLease? lease = null;
        try
        {
            // Taken once the flight can be found: a caller that joins later began after every change that precedes the mark.
            ChangeMark mark = _hasLevel ? _coherence.Mark(flight.Hash) : default;
            hasLooked = hasLooked && _coherence.IsUnchanged(flight.Before, flight.Hash); // Otherwise another process may have created the value since.
            if (!isRefresh && policy.ReadsLocal
                && await TryTakeFreshAsync<T>(flight).ConfigureAwait(false) is { } fresh && TrySucceed(flight, fresh, CacheCount.LocalHit))
            {
                return;
            }

            if (_hasLevel && policy.ReadsShared && !hasLooked
                && await TryReadSharedAsync(flight, mark, policy, isRefresh).ConfigureAwait(false) is { } shared
                && TrySucceed(flight, shared, CacheCount.SharedHit))
            {
                return;
            }

            _counters.Add(CacheCount.Miss);
            if (!policy.RunsFactory)
            {
                flight.Succeed(default!);
                return;
            }

            if (_hasLevel && _level.HasLeases && policy.WritesShared)
            {
                // A second pass replaces the existing entry if the value that another process has created meanwhile cannot be used here.
                LeaseResult result;
                bool replaces = false;
                do
                {
                    replaces = replaces || flight.Stale is not null || flight.ReplacesUseless || !policy.ReadsShared;
                    result = await _level.AcquireLeaseAsync(flight.Key, flight.Hash, replaces, policy.LeaseWait, flight.Wait).ConfigureAwait(false);
                    lease = result.Lease;
                    bool mayBeMade = result.Status == LevelStatus.Hit || result.HasWaited || replaces || (hasLooked && lease is null)
                        || !_coherence.IsUnchanged(mark, flight.Hash);
                    if (policy.ReadsShared && mayBeMade)
                    {
                        // Another process has created the value meanwhile, or has replaced the entry that this flight was to replace.
                        mark = _coherence.Mark(flight.Hash);
                        if (await TryReadSharedAsync(flight, mark, policy, isRefresh).ConfigureAwait(false) is { } made
                            && TrySucceed(flight, made, CacheCount.SharedHit))
                        {
                            return;
                        }
                    }
                }
                while (result.Status == LevelStatus.Hit && !replaces && (flight.Stale is not null || flight.ReplacesUseless));
            }

            await MakeAsync(flight, factory, state, policy, tags, mark, lease).ConfigureAwait(false);
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            Fail(flight, policy, fault, isRefresh);
        }
        finally
        {
            if (lease is not null)
            {
                await lease.DisposeAsync().ConfigureAwait(false);
            }

            _guard.Remove(flight);
            if (isRefresh)
            {
                Postpone(flight.Stale!, policy); // No effect if the first level holds another entry.
            }
        }
    }

    // Returns whether a miss needs only the call of the factory and the keeping of its value. That is so without tags, if the first level has
    // received no value since the flight can be found. With a second level, it also must have been read without waiting, must not have changed
    // since, and must grant its lease at once: then only the write may have to be awaited.
    private bool IsPlain<T>(
        ValueFlight<T> flight, EntryPolicy policy, IEnumerable<string>? tags, bool hasLooked, out ChangeMark mark, out ILevelLease? lease)
    {
        mark = default;
        lease = null;
        if (tags is not null || policy.Options.Topics is not null || !policy.RunsFactory
            || (policy.ReadsLocal && _local.Find(flight.Hash, flight.Key) is not null))
        {
            return false;
        }

        if (!_hasLevel)
        {
            return true;
        }

        if (!hasLooked || !policy.WritesShared || flight.Stale is not null || flight.ReplacesUseless)
        {
            return false;
        }

        // Taken once the flight can be found, as in RunAsync.
        mark = _coherence.Mark(flight.Hash);
        lease = _level.TryAcquireNow(flight.Key, flight.Hash);
        if (lease is null || _coherence.IsUnchanged(flight.Before, flight.Hash))
        {
            return lease is not null;
        }

        GiveBack(lease);
        lease = null;
        return false;
    }

    // RunAsync and MakeAsync for a plain flight: asynchronous only if the factory or the second level is.
    private ValueTask RunPlainAsync<TFactory, TState, T>(
        ValueFlight<T> flight, TFactory factory, TState state, EntryPolicy policy, ExecutionContext outer, ChangeMark mark, ILevelLease? lease)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        _counters.Add(CacheCount.Miss);
        ValueTask<T> making;
        try
        {
            making = RunFactoryAsync(flight, factory, state, context: null);
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            making = ValueTask.FromException<T>(fault);
        }

        // Called before the context is restored, so that foreign code that runs here still belongs to the flight.
        ValueTask run = EndPlainAsync(flight, making, policy, mark, lease);

        // Changes that the factory made to its execution context end with it, as in an asynchronous method.
        ExecutionContext.Restore(outer);
        return run;
    }

    private ValueTask EndPlainAsync<T>(ValueFlight<T> flight, ValueTask<T> making, EntryPolicy policy, ChangeMark mark, ILevelLease? lease)
    {
        if (!making.IsCompletedSuccessfully)
        {
            return EndLaterAsync(flight, KeepLaterAsync(flight, making, policy, mark, lease), policy, lease);
        }

        try
        {
            ValueTask keeping = KeepMadeAsync(flight, making.Result, policy, mark, lease);
            if (!keeping.IsCompletedSuccessfully)
            {
                return EndLaterAsync(flight, keeping, policy, lease);
            }
        }
#pragma warning disable CA1031 // All exceptions of a factory go to its waiting callers.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            Fail(flight, policy, fault, isRefresh: false);
        }

        if (lease is not null)
        {
            GiveBack(lease);
        }

        _guard.Remove(flight);
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
            Fail(flight, policy, fault, isRefresh: false);
        }
        finally
        {
            if (lease is not null)
            {
                await lease.DisposeAsync().ConfigureAwait(false);
            }

            _guard.Remove(flight);
        }
    }

    private async ValueTask KeepLaterAsync<T>(ValueFlight<T> flight, ValueTask<T> making, EntryPolicy policy, ChangeMark mark, ILevelLease? lease) =>
        await KeepMadeAsync(flight, await making.ConfigureAwait(false), policy, mark, lease).ConfigureAwait(false);

    private ValueTask KeepMadeAsync<T>(ValueFlight<T> flight, T value, EntryPolicy policy, ChangeMark mark, ILevelLease? lease)
    {
        if (lease is not null && (value is not null || policy.CachesNull))
        {
            return KeepAsync(flight, value, policy, stamps: null, etag: null, lastModified: null, mark, lease);
        }

        KeepPlain(flight, value, policy);
        return default;
    }

    // Returns the lease without awaiting it: no caller depends on the result, and it does not throw.
    private static void GiveBack(ILevelLease lease)
    {
        ValueTask returning = lease.DisposeAsync();
        if (!returning.IsCompletedSuccessfully)
        {
            _ = returning.AsTask();
        }
    }

    private async ValueTask MakeAsync<TFactory, TState, T>(
        ValueFlight<T> flight, TFactory factory, TState state, EntryPolicy policy, IEnumerable<string>? tags, ChangeMark mark, ILevelLease? lease)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        TagStamps? stamps = tags is null && policy.Options.Topics is null
            ? null
            : await CaptureAsync(tags, policy.Options.Topics, flight.Wait).ConfigureAwait(false);
        CacheFactoryContext<T>? context = null;
        ChangeMark[]? marks = null;
        IReadOnlyList<string>? topics = policy.Options.Topics;
        if (TFactory.IsAdaptive)
        {
            context = ContextOf(flight, policy);
            marks = _coherence.MarkAll();
        }

        if (stamps is not null && _options.ReportTagMetrics)
        {
            CountTags(stamps, "miss");
        }

        flight.Deadline?.Pause();
        T value = await RunFactoryAsync(flight, factory, state, context).ConfigureAwait(false);
        flight.Deadline?.Resume();
        bool isKept = true;
        if (context is not null)
        {
            policy = policy.With(context.Options);
            isKept = context.IsCached;
            if (isKept && (context.Tags is not null || !ReferenceEquals(topics, policy.Options.Topics)))
            {
                stamps = await CaptureLateAsync(stamps, context.Tags, policy.Options.Topics, marks!, flight.Wait).ConfigureAwait(false);
                isKept = stamps is not null;
            }
        }

        flight.Tags = stamps;
        if (!isKept || (value is null && !policy.CachesNull))
        {
            flight.Succeed(value);
            return;
        }

        await KeepAsync(flight, value, policy, stamps, context?.ETag, context?.LastModified, mark, lease).ConfigureAwait(false);
    }

    private ValueTask<T> RunFactoryAsync<TFactory, TState, T>(ValueFlight<T> flight, TFactory factory, TState state, CacheFactoryContext<T>? context)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        _counters.Add(CacheCount.FactoryRun);
        FlightScope.Enter(flight);
        return _metrics.TimesFactories || CacheMetrics.Activities.HasListeners()
            ? WatchFactoryAsync(flight, factory, state, context)
            : factory.InvokeAsync(state, context, flight.Token);
    }

    // Calls the factory with a measurement and a trace.
    private async ValueTask<T> WatchFactoryAsync<TFactory, TState, T>(
        ValueFlight<T> flight, TFactory factory, TState state, CacheFactoryContext<T>? context)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        using Activity? activity = CacheMetrics.Activities.StartActivity("cairn.cache.factory");
        activity?.SetTag("cairn.cache.name", Name);
        long start = Stopwatch.GetTimestamp();
        bool isOk = false;
        try
        {
            T value = await factory.InvokeAsync(state, context, flight.Token).ConfigureAwait(false);
            isOk = true;
            return value;
        }
        catch (Exception fault)
        {
            activity?.SetStatus(ActivityStatusCode.Error, fault.Message);
            activity?.SetTag("error.type", fault.GetType().FullName);
            throw;
        }
        finally
        {
            _metrics.RecordFactory(Stopwatch.GetElapsedTime(start), isOk);
        }
    }

    // Returns false if the entry has another type or cannot be deserialized.
    private bool TrySucceed<T>(ValueFlight<T> flight, LocalEntry entry, CacheCount count)
    {
        if (!TryTake(entry, out T? value))
        {
            return false;
        }

        _counters.Add(count);
        flight.Tags = entry.Tags;
        flight.Succeed(value!, CopyOf<T>(entry));
        return true;
    }

    private void Fail<T>(ValueFlight<T> flight, EntryPolicy policy, Exception fault, bool isRefresh)
    {
        if (isRefresh)
        {
            // Only callers that have joined meanwhile wait for a refresh.
            _log.RefreshFailed(flight.Key, fault);
            if (flight.Stale is { } present && _clock.NowMs() >= present.FreshUntil && IsStillUsable(flight, present))
            {
                KeepThrottled(flight, present, policy);
            }

            _counters.Add(CacheCount.FactoryFault);
            flight.Fail(fault);
            return;
        }

        bool isCancelled = fault is OperationCanceledException && flight.Token.IsCancellationRequested;
        if (!isCancelled)
        {
            _counters.Add(CacheCount.FactoryFault);
            if (policy.FailSafeMs > 0 && flight.Stale is { } stale && IsStillUsable(flight, stale) && TryTake(stale, out T? value))
            {
                // The source is not called again for the throttle time, because it may be down.
                KeepThrottled(flight, stale, policy);
                _counters.Add(CacheCount.StaleServed);
                _log.FactoryFailed(flight.Key, fault);
                flight.Tags = stale.Tags;
                flight.Succeed(value!, CopyOf<T>(stale));
                return;
            }
        }

        flight.Fail(fault);
    }

    // Returns whether an expired value may be served: its usable time has not passed, and nothing has changed since before it was found,
    // because a caller that waits for the flight may have come after the change. Without a second level only the first level knows of
    // changes: it no longer holds a removed entry.
    private bool IsStillUsable<T>(ValueFlight<T> flight, LocalEntry stale) =>
        _clock.NowMs() < stale.UsableUntil
        && !flight.IsDetached
        && (_hasLevel ? _coherence.IsUnchanged(flight.Before, flight.Hash) : _local.FindSurely(flight.Hash, flight.Key) is { UsableUntil: var until } && until == stale.UsableUntil)
        && (stale.Tags is null || AreCurrent(stale.Tags));

    private bool TryTakeStale<T>(ValueFlight<T> flight, EntryPolicy policy, [MaybeNullWhen(false)] out T value)
    {
        if (policy.FailSafeMs > 0 && flight.Stale is { } stale && IsStillUsable(flight, stale) && TryTake(stale, out value))
        {
            _counters.Add(CacheCount.StaleServed);
            return true;
        }

        value = default;
        return false;
    }

    private async ValueTask<T> CreateUncachedAsync<TFactory, TState, T>(
        string key, TFactory factory, TState state, EntryPolicy policy, CancellationToken cancellationToken)
        where TFactory : struct, ICacheFactory<TState, T>
    {
        _counters.Add(CacheCount.Uncached);
        if (!policy.RunsFactory)
        {
            return default!;
        }

        CacheFactoryContext<T>? context = TFactory.IsAdaptive ? new(key, policy.Options, default, null, null) : null;
        return await factory.InvokeAsync(state, context, cancellationToken).ConfigureAwait(false);
    }
}
