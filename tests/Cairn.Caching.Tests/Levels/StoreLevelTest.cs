using System.Buffers;
using Cairn.Caching.Levels;
using Cairn.Caching.Stores;

namespace Cairn.Caching.Tests.Levels;

/// <summary>A test of levels over one store file. Each level has its own opening, as separate processes do.</summary>
public abstract class StoreLevelTest : IAsyncLifetime, IDisposable
{
    private protected const string Name = "books";

    private readonly StoreDirectory _directory = new();
    private readonly List<StoreLevel> _levels = [];

    private protected string FilePath => _directory.FilePath;

    private protected ManualClock Clock { get; } = new();

    private protected virtual StoreOptions Options => _directory.Options with { TimeProvider = Clock };

    private protected static LevelExpiration Never => new(long.MaxValue, 0);

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        foreach (StoreLevel level in _levels)
        {
            await level.DisposeAsync();
        }
    }

    public void Dispose() => _directory.Dispose();

    /// <summary>Creates a level with its own opening of the store.</summary>
    private protected StoreLevel Open(string name = Name, TimeSpan? leaseDuration = null) => Open(out _, name, leaseDuration);

    private protected StoreLevel Open(out CairnStore store, string name = Name, TimeSpan? leaseDuration = null)
    {
        store = CairnStore.Open(Options);
        var level = new StoreLevel(StoreHandle.Own(store), name, leaseDuration);
        _levels.Add(level);
        return level;
    }

    private protected static async Task<byte[]?> Read(StoreLevel level, string key)
    {
        var target = new ArrayBufferWriter<byte>();
        LevelStatus status = await level.ReadAsync(key, level.Hasher.Hash(key), target, default);
        Assert.Contains(status, new[] { LevelStatus.Hit, LevelStatus.Miss });
        Assert.True(status == LevelStatus.Hit || target.WrittenCount == 0);
        return status == LevelStatus.Hit ? target.WrittenSpan.ToArray() : null;
    }

    private protected static Task<LevelStatus> Write(
        StoreLevel level, string key, byte[] value, LevelExpiration? expiration = null, ILevelLease? lease = null) =>
        level.WriteAsync(key, level.Hasher.Hash(key), value, expiration ?? Never, lease, default).AsTask();

    private protected static Task<LevelStatus> Remove(StoreLevel level, string key) =>
        level.RemoveAsync(key, level.Hasher.Hash(key), default).AsTask();

    private protected static Task<LeaseResult> Acquire(
        StoreLevel level, string key, TimeSpan wait = default, bool replacesStale = false, CancellationToken cancellationToken = default) =>
        level.AcquireLeaseAsync(key, level.Hasher.Hash(key), replacesStale, wait, cancellationToken).AsTask();

    private protected static async Task<ulong> ReadStamp(StoreLevel level, string tag) =>
        (await level.ReadStampAsync(tag, level.TagHasher.Hash(tag), default)).Stamp;

    private protected static Task<LevelStatus> RenewStamp(StoreLevel level, string tag) =>
        level.RenewStampAsync(tag, level.TagHasher.Hash(tag), default).AsTask();
}
