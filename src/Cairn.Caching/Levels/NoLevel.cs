using System.Collections.Concurrent;
using Cairn.Caching.Coherence;
using Cairn.Caching.Records;
using Cairn.Caching.Tagging;
using Cairn.Engine;

namespace Cairn.Caching.Levels;

// Represents the absence of a second level: every read is a miss, every change is done at once, and the stamps of tags exist in this
// process only.
//
//   I1  The stamp of a tag that was never renewed follows from its hash and the base, so that no memory is needed for it. Renewed tags are
//       remembered. Beyond MaxRenewed, all are forgotten and the base changes, which invalidates more than was requested.
internal sealed class NoLevel : SecondLevel
{
    public const int MaxRenewed = 100_000;

    private readonly LocalOnlyCoherence _coherence = new();
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, TagState> _renewed = new(StringComparer.Ordinal);
    private ulong _base = DistributedRecords.NewNumber();

    public override KeyHasher Hasher { get; } = KeyHasher.Random();

    public override KeyHasher TagHasher { get; } = KeyHasher.Random();

    public override int MaxKeyBytes => int.MaxValue;

    public override long MaxValueBytes => long.MaxValue;

    public override ICoherence Coherence => _coherence;

    public override bool HasLeases => false;

    public override ValueTask<LevelStatus> ReadAsync(string key, ulong hash, IBufferWriter<byte> target, LevelWait wait) =>
        new(LevelStatus.Miss);

    public override ValueTask ReadManyAsync(
        ReadOnlyMemory<string> keys, ReadOnlyMemory<ulong> hashes, IBufferWriter<byte>[] targets, LevelStatus[] statuses, LevelWait wait)
    {
        // Clears the statuses to Miss, which is 0.
        statuses.AsSpan(0, keys.Length).Clear();
        return default;
    }

    public override ValueTask<LevelStatus> WriteAsync(
        string key, ulong hash, ReadOnlyMemory<byte> envelope, LevelExpiration expiration, ILevelLease? lease, LevelWait wait)
    {
        _coherence.OnChanged(hash);
        return new(LevelStatus.Done);
    }

    public override ValueTask<LevelStatus> RemoveAsync(string key, ulong hash, LevelWait wait)
    {
        _coherence.OnChanged(hash);
        return new(LevelStatus.Done);
    }

    public override ValueTask<LevelStatus> TouchAsync(string key, ulong hash, LevelExpiration expiration, LevelWait wait) =>
        new(LevelStatus.Done);

    /// <summary>Returns Failed: there is no other process that could create the value.</summary>
    public override ValueTask<LeaseResult> AcquireLeaseAsync(
        string key, ulong hash, bool replacesStale, TimeSpan leaseWait, LevelWait wait) =>
        new(new LeaseResult(LevelStatus.Failed));

    public override ValueTask<TagState> ReadStampAsync(string tag, ulong hash, LevelWait wait) => new(StateOf(tag, hash));

    private TagState StateOf(string tag, ulong hash)
    {
        // Never 0, which means no stamp.
        ulong derived = hash ^ Volatile.Read(ref _base);
        return _renewed.TryGetValue(tag, out TagState state) ? state : new TagState(derived == 0 ? ulong.MaxValue : derived);
    }

    public override ValueTask<LevelStatus> RenewStampAsync(string tag, ulong hash, LevelWait wait) => new(Change(tag, hash, others: null));

    public override ValueTask<LevelStatus> AddConditionAsync(string tag, ulong hash, ulong[] others, LevelWait wait) => new(Change(tag, hash, others));

    private LevelStatus Change(string tag, ulong hash, ulong[]? others)
    {
        lock (_gate)
        {
            if (_renewed.Count >= MaxRenewed)
            {
                Forget();
            }

            _renewed[tag] = others is null ? new TagState(DistributedRecords.NewNumber()) : StateOf(tag, hash).Without(others);
        }

        _coherence.OnChanged(hash);
        return LevelStatus.Done;
    }

    public override ValueTask<LevelStatus> ClearAsync(LevelWait wait)
    {
        lock (_gate)
        {
            Forget();
        }

        _coherence.OnAllChanged();
        return new(LevelStatus.Done);
    }

    public override ValueTask DisposeAsync() => default;

    private void Forget()
    {
        // The base changes first: a tag that is read in between gets the new base or its old stamp.
        Volatile.Write(ref _base, DistributedRecords.NewNumber());
        _renewed.Clear();
    }
}
