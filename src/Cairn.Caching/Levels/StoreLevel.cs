using System.Security.Cryptography;
using Cairn.Caching.Coherence;
using Cairn.Caching.Stores;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Engine;

namespace Cairn.Caching.Levels;

// A store file as the second level: envelopes in one collection, stamps of tags in a second one. The only wait is for a partition's lock, at
// most the store's time-out. Only the wait for a lease is asynchronous (StoreLevelWatcher).
//
//   I1  After a change that returned Done or Failed, no reader gets the old value. If the lock cannot be acquired, the new value is not
//       written, but the store still retracts the old one without the lock and notifies all processes. So a removal and a new stamp need no
//       retry: they are done. A missing stamp has the same effect as a new one, because the next reader creates one.
//   I2  Only clearing can be delayed by a lock: StoreLevelClearing then does it later, and until then hides the entries that it has not
//       cleared.
//   I3  Stamps are random and never 0. If two callers create the first stamp of a tag at once, both get the same one: the store adds only one.
//   I4  The first stamp of a tag is not a change of it: nothing was invalidated, so no process is notified. If an earlier stamp was evicted,
//       processes that remember it differ from those that do not, until they read it again; the entries of both are valid by their own stamp.
internal sealed class StoreLevel : SecondLevel
{
    /// <summary>The suffix that is added to the name of a cache to form the name of the collection of its tags.</summary>
    public const string TagsSuffix = "/tags";

    private const int PrefetchedAtOnce = 16;

    private readonly StoreHandle _handle;
    private readonly CairnStore _store;
    private readonly CairnCollection _keys;
    private readonly CairnCollection _tags;
    private readonly StoreCoherence _coherence;
    private readonly StoreLevelClearing _clearing;
    private readonly StoreLevelWatcher _watcher;
    private long _failures;

    /// <summary>Opens or creates the cache's collections.</summary>
    /// <param name="handle">The store, released when this level is disposed.</param>
    /// <param name="name">The name of the cache within the store: processes that use the same name share it.</param>
    /// <param name="leaseDuration">The time after which a lease may be taken over from a living owner; null for the store's default.</param>
    /// <exception cref="StoreException">The store has too many collections.</exception>
    public StoreLevel(StoreHandle handle, string name, TimeSpan? leaseDuration = null)
    {
        _handle = handle;
        CairnStore store = handle.Store;
        _store = store;
        _keys = store.Collection(name);
        _tags = store.Collection(name + TagsSuffix);
        Hasher = KeyHasher.Of(_keys.Engine, _keys.Number);
        TagHasher = KeyHasher.Of(_tags.Engine, _tags.Number);
        _coherence = new StoreCoherence(store);
        _clearing = new StoreLevelClearing(store, _keys, _tags);
        _watcher = new StoreLevelWatcher(_keys, leaseDuration ?? StoreLease.Duration);
    }

    public override KeyHasher Hasher { get; }

    public override KeyHasher TagHasher { get; }

    public override int MaxKeyBytes => Storage.EntryView.MaxKeyBytes;

    public override long MaxValueBytes => _store.MaxValueBytes;

    public override ICoherence Coherence => _coherence;

    public override bool HasLeases => true;

    public override LevelHealth Health => new() { Failures = Failures };

    /// <summary>The number of operations that ended as <see cref="LevelStatus.Failed"/>, or as unknown for stamps.</summary>
    public long Failures => Interlocked.Read(ref _failures);

    public override ValueTask<LevelStatus> ReadAsync(
        string key, ulong hash, IBufferWriter<byte> target, LevelWait wait) =>
        wait.Token.IsCancellationRequested
            ? ValueTask.FromCanceled<LevelStatus>(wait.Token)
            : new(Read(key, hash, target));

    public override bool TryReadNow(string key, ulong hash, IBufferWriter<byte> target, out LevelStatus status)
    {
        status = Read(key, hash, target);
        return true;
    }

    public override ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses,
        LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(wait.Token);
        }

        for (int start = 0; start < keys.Length; start += PrefetchedAtOnce)
        {
            int end = Math.Min(keys.Length, start + PrefetchedAtOnce);
            Prefetch(hashes.Span[start..end]);
            for (int i = start; i < end; i++)
            {
                statuses[i] = Read(keys.Span[i], hashes.Span[i], targets[i]);
            }
        }

        return ValueTask.CompletedTask;
    }

    public override ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease,
        LevelWait wait) =>
        wait.Token.IsCancellationRequested
            ? ValueTask.FromCanceled<LevelStatus>(wait.Token)
            : new(Write(key, hash, envelope.Span, Expiration.Until(expiration.Deadline, expiration.SlidingMs), (StoreLevelLease?)lease));

    public override ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<LevelStatus>(wait.Token);
        }

        try
        {
            _keys.Remove(key);
            return new(LevelStatus.Done); // I1
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new(Failed());
        }
    }

    public override ValueTask<LevelStatus> TouchAsync(
        string key, ulong hash, LevelExpiration expiration, LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<LevelStatus>(wait.Token);
        }

        try
        {
            // Uses the key instead of the store's Touch: Touch is a change of the value, and every process would forget its copy. The entry is
            // extended by its own interval, up to its own deadline; both were set when it was written.
            return new(!_clearing.IsPending(hash) && _keys.TryUse(key) ? LevelStatus.Done : LevelStatus.Miss);
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new(Failed());
        }
    }

    public override ValueTask<LeaseResult> AcquireLeaseAsync(
        string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<LeaseResult>(wait.Token);
        }

        LeaseResult result = TryAcquire(key, hash, replacesStale);
        if (result.Status == LevelStatus.Failed)
        {
            Failed();
        }

        return result.Status == LevelStatus.Held && leaseWait != TimeSpan.Zero
            ? _watcher.WaitAsync(key, replacesStale, _coherence.PartitionOf(hash), leaseWait, wait.Token)
            : new(result);
    }

    public override ILevelLease? TryAcquireNow(string key, ulong hash) => TryAcquire(key, hash, replacesStale: false).Lease;

    public override ValueTask<TagState> ReadStampAsync(string tag, ulong hash, LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<TagState>(wait.Token);
        }

        TagState state;
        try
        {
            state = _clearing.TryFinish(hash) ? ReadOrAddStamp(tag, out _) : default;
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            state = default;
        }

        if (state.Stamp == Tag.Unknown)
        {
            Failed();
        }

        return new(state);
    }

    public override ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<LevelStatus>(wait.Token);
        }

        try
        {
            ulong stamp = NewStamp();
            _tags.Set(tag, BytesOf(in stamp), Expiration.None);
            return new(LevelStatus.Done); // I1, even if the stamp could not be set.
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new(Failed());
        }
    }

    public override ValueTask<LevelStatus> AddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait)
    {
        try
        {
            // Another process can change the state between the read and the swap. Each repetition means that one process has succeeded.
            WriteStatus status = WriteStatus.VersionMismatch;
            while (status is WriteStatus.VersionMismatch or WriteStatus.NotFound && !wait.Token.IsCancellationRequested && _clearing.TryFinish(hash)
                && ReadOrAddStamp(tag, out ulong version) is { Stamp: not Tag.Unknown } state)
            {
                status = version == 0 ? status : _tags.CompareAndSwap(tag, state.Without(others).ToBytes(), version, Expiration.None);
            }

            return status == WriteStatus.Stored ? new(LevelStatus.Done) : RenewStampAsync(tag, hash, wait);
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new(Failed());
        }
    }

    public override async IAsyncEnumerable<string> ListKeysAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await Task.CompletedTask.ConfigureAwait(false);
        foreach (StoreEntry entry in _keys.Entries())
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return entry.KeyText;
        }
    }

    public override ValueTask<LevelStatus> ClearAsync(LevelWait wait)
    {
        if (wait.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<LevelStatus>(wait.Token);
        }

        try
        {
            return new(_clearing.Clear() ? LevelStatus.Done : Failed());
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new(Failed());
        }
    }

    public override ValueTask DisposeAsync()
    {
        _watcher.Dispose();
        _clearing.Dispose();
        _handle.Dispose();
        return ValueTask.CompletedTask;
    }

    // The store was closed, is full or is damaged; or the key is invalid for a store, and so has no value here.
    private static bool IsExpected(Exception exception) => exception is ObjectDisposedException or IOException or ArgumentException;

    private static ulong NewStamp()
    {
        ulong stamp = Tag.Unknown;
        while (stamp == Tag.Unknown)
        {
            RandomNumberGenerator.Fill(MemoryMarshal.AsBytes(new Span<ulong>(ref stamp)));
        }

        return stamp;
    }

    private static ReadOnlySpan<byte> BytesOf(in ulong stamp) => MemoryMarshal.AsBytes(new ReadOnlySpan<ulong>(in stamp));

    private LeaseResult TryAcquire(string key, ulong hash, bool replacesStale)
    {
        try
        {
            return _clearing.TryFinish(hash)
                ? _watcher.Try(key, replacesStale, _store.Options.LockTimeout)
                : new LeaseResult(LevelStatus.Failed);
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return new LeaseResult(LevelStatus.Failed);
        }
    }

    private LevelStatus Read(string key, ulong hash, IBufferWriter<byte> target)
    {
        try
        {
            return !_clearing.IsPending(hash) && _keys.TryGet(key, target) ? LevelStatus.Hit : LevelStatus.Miss;
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return Failed();
        }
    }

    private LevelStatus Write(string key, ulong hash, ReadOnlySpan<byte> envelope, Expiration expiration, StoreLevelLease? lease)
    {
        try
        {
            if (!_clearing.TryFinish(hash))
            {
                return Failed();
            }

            LevelStatus status = lease?.Write(envelope, expiration)
                ?? (_keys.Set(key, envelope, expiration) ? LevelStatus.Done : LevelStatus.Failed); // I1
            return status == LevelStatus.Failed ? Failed() : status;
        }
        catch (Exception exception) when (IsExpected(exception))
        {
            return Failed();
        }
    }

    // I3, I4
    private TagState ReadOrAddStamp(string tag, out ulong version)
    {
        ulong stamp = Tag.Unknown;
        Span<byte> bytes = MemoryMarshal.AsBytes(new Span<ulong>(ref stamp));
        while (true)
        {
            bool isRead = _tags.TryGet(tag, bytes, out EntryInfo info);
            version = info.Version;
            if (isRead && info.ValueBytes == TagState.StampBytes && stamp != Tag.Unknown)
            {
                return new(stamp);
            }

            if (info.ValueBytes > TagState.StampBytes)
            {
                var whole = new ArrayBufferWriter<byte>(info.ValueBytes);
                if (_tags.TryGet(tag, whole, out info) && TagState.TryRead(whole.WrittenSpan, out TagState state))
                {
                    version = info.Version;
                    return state;
                }
            }

            if (info.Version != 0)
            {
                _tags.CompareAndRemove(tag, info.Version); // Not a valid state.
            }

            stamp = NewStamp();
            switch (_tags.AddQuietly(tag, bytes, Expiration.None))
            {
                case WriteStatus.Stored:
                    version = 0; // Not known.
                    return new(stamp);
                case WriteStatus.Exists:
                    break; // Another process's stamp was added first.
                default:
                    return default;
            }
        }
    }

    // Prefetches the entries, so that their cache lines are on their way while the first one is read.
    private void Prefetch(ReadOnlySpan<ulong> hashes)
    {
        foreach (ulong hash in hashes)
        {
            _store.Engine.PrefetchBucket(_store.Engine.Memory.Place(hash));
        }

        foreach (ulong hash in hashes)
        {
            _store.Engine.PrefetchEntry(_store.Engine.Memory.Place(hash));
        }

        GC.KeepAlive(_store);
    }

    private LevelStatus Failed()
    {
        Interlocked.Increment(ref _failures);
        return LevelStatus.Failed;
    }
}
