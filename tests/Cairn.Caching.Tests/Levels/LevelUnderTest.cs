using System.Buffers;
using System.Text;
using Cairn.Caching.Levels;
using Cairn.Caching.Tagging;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching.Tests.Levels;

/// <summary>A second level with text keys and values, and a clock that the test moves.</summary>
internal sealed class LevelUnderTest : IAsyncDisposable
{
    public LevelUnderTest(
        IDistributedCache cache, ManualClock? clock = null, DistributedLevelOptions? options = null, ICacheLeases? leases = null, ICacheInvalidation? channel = null)
    {
        Clock = clock ?? new ManualClock(hasTimers: true);
        Level = new(cache, leases, channel, (options ?? new()) with { Clock = Clock, Jitter = () => 0 }, NullLogger.Instance);
        Sink = new();
        Level.Coherence.Attach(Sink);
    }

    public ManualClock Clock { get; }

    public DistributedLevel Level { get; }

    public RecordingSink Sink { get; }

    public LevelCounters Counters => Level.Counters;

    public ulong Hash(string key) => Level.Hasher.Hash(key);

    public ulong TagHash(string tag) => Level.TagHasher.Hash(tag);

    /// <summary>Returns the value; null for a miss; "failed" if the result is unknown.</summary>
    public async Task<string?> ReadAsync(string key, CancellationToken cancellationToken = default)
    {
        var target = new ArrayBufferWriter<byte>();
        return await Level.ReadAsync(key, Hash(key), target, cancellationToken) switch
        {
            LevelStatus.Hit => Encoding.UTF8.GetString(target.WrittenSpan),
            LevelStatus.Miss => null,
            _ => "failed",
        };
    }

    public Task<LevelStatus> WriteAsync(string key, string value, ILevelLease? lease = null, CancellationToken cancellationToken = default) =>
        Level.WriteAsync(key, Hash(key), Encoding.UTF8.GetBytes(value), new(long.MaxValue, 0), lease, cancellationToken).AsTask();

    public Task<LevelStatus> RemoveAsync(string key, CancellationToken cancellationToken = default) =>
        Level.RemoveAsync(key, Hash(key), cancellationToken).AsTask();

    public Task<LeaseResult> LeaseAsync(string key, TimeSpan wait = default, bool replacesStale = false) =>
        Level.AcquireLeaseAsync(key, Hash(key), replacesStale, wait, CancellationToken.None).AsTask();

    public async Task<ulong> StampAsync(string tag) => (await StateAsync(tag)).Stamp;

    public Task<TagState> StateAsync(string tag) => Level.ReadStampAsync(tag, TagHash(tag), CancellationToken.None).AsTask();

    public Task<LevelStatus> RenewAsync(string tag) => Level.RenewStampAsync(tag, TagHash(tag), CancellationToken.None).AsTask();

    /// <summary>Moves the clock in small steps until a condition holds. Fails after five simulated minutes.</summary>
    public Task AdvanceUntilAsync(Func<bool> isSo) => AdvanceUntilAsync(Clock, isSo);

    /// <summary>Moves the clock in small steps for a time.</summary>
    public Task AdvanceAsync(TimeSpan time)
    {
        DateTimeOffset end = Clock.Now + time;
        return AdvanceUntilAsync(() => Clock.Now >= end);
    }

    /// <summary>Moves the clock until a task ends, and returns its result.</summary>
    public async Task<T> AdvanceUntilDoneAsync<T>(Task<T> task)
    {
        await AdvanceUntilAsync(() => task.IsCompleted);
#pragma warning disable VSTHRD003 // The task has ended.
        return await task;
#pragma warning restore VSTHRD003
    }

    /// <summary>Moves the clock until a change that hangs has ended for its caller and its call was given up. Returns the result.</summary>
    /// <remarks>
    /// The caller's time-out can end before the call's. The next operation on the same key would then wait for the call, while the clock stands
    /// still.
    /// </remarks>
    public async Task<LevelStatus> AdvanceUntilGivenUpAsync(Task<LevelStatus> change)
    {
        await AdvanceUntilAsync(() => change.IsCompleted && Counters.Timeouts > 0);
#pragma warning disable VSTHRD003 // The task has ended.
        return await change;
#pragma warning restore VSTHRD003
    }

    public static async Task AdvanceUntilAsync(ManualClock clock, Func<bool> isSo)
    {
        DateTimeOffset end = clock.Now.AddMinutes(5);
        while (!isSo())
        {
            Assert.True(clock.Now < end, "What was waited for did not happen within five simulated minutes.");

            // Other threads must reach their next timer first. The time that this takes does not affect the outcome.
            await Task.Delay(1); // No event reports that they have.
            clock.Advance(TimeSpan.FromMilliseconds(50));
        }
    }

    /// <summary>Waits, without moving the clock, for work of other threads that needs no time to pass.</summary>
    public static async Task UntilAsync(Func<bool> isSo)
    {
        using var end = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (!isSo())
        {
            await Task.Delay(1, end.Token); // No event reports the condition.
        }
    }

    /// <summary>Disposal may have to wait for time-outs.</summary>
    public async ValueTask DisposeAsync()
    {
        Task disposal = Level.DisposeAsync().AsTask();
        await AdvanceUntilAsync(() => disposal.IsCompleted);
        await disposal;
    }

    public static bool IsKnown(ulong stamp) => stamp != Tag.Unknown;
}
