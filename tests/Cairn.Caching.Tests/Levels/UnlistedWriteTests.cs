using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching.Tests.Levels;

/// <summary>Writes with a lease that the write-behind queue does not list (WriteBehindQueue I4).</summary>
public sealed class UnlistedWriteTests : IDisposable
{
    private const string Key = "key";

    private readonly LocalLease _lease = new(Key, hash: 7);
    private readonly List<ChangeKind> _made = [];
    private readonly WriteBehindQueue _queue;
    private Action _onAttempt = () => { };

    public UnlistedWriteTests()
    {
        var options = new DistributedLevelOptions();
        _queue = new WriteBehindQueue(
            options, new LevelCounters(), new LevelLog(NullLogger.Instance, options),
            new ChannelLiveness(isNeeded: false, TimeProvider.System, TimeSpan.Zero), AttemptAsync, () => 0, () => { }, () => { }, _ => 7);
        Assert.True(_queue.TryAcquire(_lease, out _));
    }

    public void Dispose() => _queue.Dispose();

    [Fact]
    public async Task Writes_with_one_lease_are_made_and_leave_nothing_in_the_queue()
    {
        Assert.Equal(LevelStatus.Done, await WriteAsync());
        Assert.Equal(LevelStatus.Done, await WriteAsync());
        _queue.Release(_lease);

        var next = new LocalLease(Key, hash: 7);
        Assert.True(_queue.TryAcquire(next, out _));
        Assert.Equal(LevelStatus.Done, await _queue.WriteAsync([1], default, next, CancellationToken.None));
        Assert.Equal([ChangeKind.Write, ChangeKind.Write, ChangeKind.Write], _made);
        Assert.False(_queue.TryRead(Key, out _));
        Assert.Equal(LevelStatus.Done, await RemoveAsync());
    }

    [Fact]
    public async Task Write_whose_lease_a_removal_has_ended_is_not_made()
    {
        await RemoveAsync();

        Assert.Equal(LevelStatus.LeaseLost, await WriteAsync());
        Assert.Equal([ChangeKind.Remove], _made);
    }

    [Fact]
    public async Task Removal_during_a_write_is_made_after_it()
    {
        Task<LevelStatus>? removing = null;
        _onAttempt = () =>
        {
            _onAttempt = () => { };
            removing = RemoveAsync();
        };

        LevelStatus written = await WriteAsync();

        Assert.Equal(LevelStatus.Done, await removing!);
        Assert.Equal([ChangeKind.Write, ChangeKind.Remove], _made);
        Assert.Equal(LevelStatus.Done, written);
        Assert.Equal(LevelStatus.LeaseLost, await WriteAsync());
        Assert.Equal(0, _queue.PendingCount);
    }

    private Task<LevelStatus> WriteAsync() => _queue.WriteAsync([1], default, _lease, CancellationToken.None).AsTask();

    private Task<LevelStatus> RemoveAsync() =>
        _queue.ApplyAsync(Key, new PendingChange(ChangeKind.Remove), lease: null, CancellationToken.None).AsTask();

    private ValueTask<AttemptResult> AttemptAsync(string key, PendingChange change)
    {
        _made.Add(change.Kind);
        _onAttempt();
        return new(new AttemptResult(IsDone: true));
    }
}
