using System.Buffers;
using System.Runtime.CompilerServices;
using Cairn.Caching;
using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Operations;
using Cairn.Caching.Serialization;
using Cairn.Caching.Stores;
using Cairn.Caching.Tagging;
using Cairn.Engine;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>The step that a broken hybrid cache leaves out.</summary>
internal enum HybridDefect
{
    None,

    /// <summary>Its hits do not check for changes (ICoherence I1).</summary>
    HitsWithoutAsking,

    /// <summary>It keeps a value that it read or created without checking for changes since then (ICoherence I2).</summary>
    KeepsWithoutLooking,

    /// <summary>Callers can join its flights although another cache has changed the key (Flight I1).</summary>
    JoinsAfterChange,
}

/// <summary>Creates deliberately broken twins of <see cref="CairnHybridCache"/> over a store file: each leaves out a coherence step.</summary>
internal static class BrokenHybrid
{
    public static CairnHybridCache Create(CairnHybridCacheOptions options, CairnStore store, HybridDefect defect)
    {
        var level = new BrokenLevel(new StoreLevel(StoreHandle.Borrow(store), options.Name), defect);
        var cache = new CairnHybridCache(options, level, new Codecs(new CodecOptions()), NullLogger.Instance);
        level.BrokenCoherence.Cache = cache;
        return cache;
    }

    // Does what the real sink does, except for flights.
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_parts")]
    private static extern ref CacheParts PartsOf(CairnHybridCache cache);

    private sealed class BrokenCoherence(ICoherence whole, HybridDefect defect) : ICoherence
    {
        public CairnHybridCache? Cache { get; set; }

        public bool SeesAllChanges => whole.SeesAllChanges;

        public void Attach(IChangeSink sink) =>
            whole.Attach(defect == HybridDefect.JoinsAfterChange ? new ForgetfulSink(this) : sink);

        public bool TryCatchUp(ulong hash) => defect == HybridDefect.HitsWithoutAsking || whole.TryCatchUp(hash);

        public long AllowedAgeMs => whole.AllowedAgeMs;

        public ChangeMark Mark(ulong hash) => whole.Mark(hash);

        public ChangeMark[] MarkAll() => whole.MarkAll();

        public bool IsUnchanged(in ChangeMark mark, ulong hash) => whole.IsUnchanged(mark, hash);

        public bool IsUnchanged(ChangeMark[] marks, ulong hash) => whole.IsUnchanged(marks, hash);

        public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep) =>
            whole.TryKeep(defect == HybridDefect.KeepsWithoutLooking ? whole.Mark(hash) : mark, hash, ownChanges, state, keep);
    }

    private sealed class ForgetfulSink(BrokenCoherence coherence) : IChangeSink
    {
        public void OnChanged(ulong hash)
        {
            if (coherence.Cache is { } cache)
            {
                PartsOf(cache).FirstLevel.RemoveHash(hash);
                PartsOf(cache).Tags.Forget(hash);
            }
        }

        public void OnChangedMany(int shift, ulong value)
        {
            if (coherence.Cache is { } cache)
            {
                PartsOf(cache).FirstLevel.RemoveMany(shift, value);
                PartsOf(cache).Tags.ForgetMany(shift, value);
            }
        }
    }

    private sealed class BrokenLevel(StoreLevel whole, HybridDefect defect) : SecondLevel
    {
        public BrokenCoherence BrokenCoherence { get; } = new(whole.Coherence, defect);

        public override KeyHasher Hasher => whole.Hasher;

        public override KeyHasher TagHasher => whole.TagHasher;

        public override int MaxKeyBytes => whole.MaxKeyBytes;

        public override long MaxValueBytes => whole.MaxValueBytes;

        public override bool TryReadNow(string key, ulong hash, IBufferWriter<byte> target, out LevelStatus status) =>
            whole.TryReadNow(key, hash, target, out status);

        public override ICoherence Coherence => BrokenCoherence;

        public override bool HasLeases => whole.HasLeases;

        public override ValueTask WhenReadyAsync(LevelWait wait) => whole.WhenReadyAsync(wait);

        public override ValueTask<LevelStatus> ReadAsync(
            string key, ulong hash, IBufferWriter<byte> target, LevelWait wait) =>
            whole.ReadAsync(key, hash, target, wait);

        public override ValueTask ReadManyAsync(
            ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses,
            LevelWait wait) =>
            whole.ReadManyAsync(keys, hashes, targets, statuses, wait);

        public override ValueTask<LevelStatus> WriteAsync(
            string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease,
            LevelWait wait) =>
            whole.WriteAsync(key, hash, envelope, expiration, lease, wait);

        public override ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait) =>
            whole.RemoveAsync(key, hash, wait);

        public override ValueTask<LevelStatus> TouchAsync(
            string key, ulong hash, LevelExpiration expiration, LevelWait wait) =>
            whole.TouchAsync(key, hash, expiration, wait);

        public override ValueTask<LeaseResult> AcquireLeaseAsync(
            string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait) =>
            whole.AcquireLeaseAsync(key, hash, replacesStale, leaseWait, wait);

        public override ValueTask<TagState> ReadStampAsync(string tag, ulong hash, LevelWait wait) =>
            whole.ReadStampAsync(tag, hash, wait);

        public override ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait) =>
            whole.RenewStampAsync(tag, hash, wait);

        public override ValueTask<LevelStatus> AddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait) =>
            whole.AddConditionAsync(tag, hash, others, wait);

        public override ValueTask<LevelStatus> ClearAsync(LevelWait wait) => whole.ClearAsync(wait);

        public override int ChangesOf(LevelStatus write) => whole.ChangesOf(write);

        public override ValueTask DisposeAsync() => whole.DisposeAsync();
    }
}
