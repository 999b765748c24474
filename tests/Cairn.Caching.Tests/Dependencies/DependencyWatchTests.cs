using Cairn.Caching.Dependencies;
using Cairn.Caching.Timing;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Tests.Dependencies;

public sealed class DependencyWatchTests
{
    private readonly ManualClock _clock = new();
    private readonly List<string> _changed = [];

    [Fact]
    public void Oldest_key_counts_as_changed_when_there_is_no_room_for_another()
    {
        using DependencyWatch watch = Open();
        using var source = new CancellationTokenSource();
        IChangeToken[] tokens = [new CancellationChangeToken(source.Token)];
        for (int i = 0; i < DependencyWatch.KeysAtMost; i++)
        {
            watch.Set($"key {i}", tokens, long.MaxValue);
        }

        watch.Set("key 0", tokens, long.MaxValue);
        Assert.Empty(_changed);
        watch.Set("one more", tokens, long.MaxValue);

        Assert.Equal(["key 1"], _changed);
        Assert.Equal(DependencyWatch.KeysAtMost, watch.Count);
        source.Cancel();
        Assert.Equal(0, watch.Count);
        Assert.Equal(DependencyWatch.KeysAtMost + 1, _changed.Count);
    }

    [Fact]
    public void Keys_whose_values_are_not_usable_any_more_leave_before_others_count_as_changed()
    {
        using DependencyWatch watch = Open();
        IChangeToken[] tokens = [new CancellationChangeToken(new CancellationToken(false))];
        var clock = new CacheClock(_clock);

        for (int i = 0; i < 3 * DependencyWatch.KeysAtMost; i++)
        {
            _clock.Advance(TimeSpan.FromMilliseconds(1));
            watch.Set($"key {i}", tokens, clock.NowMs() + 1000);
        }

        Assert.Empty(_changed);
        Assert.InRange(watch.Count, 1000, 4000);
    }

    [Fact]
    public void Token_that_fails_on_the_timer_counts_as_changed_and_is_reported()
    {
        var clock = new ManualClock(hasTimers: true);
        var failed = new List<string>();
        using var watch = new DependencyWatch(new CacheClock(clock), _changed.Add, (key, failure) => failed.Add($"{key}: {failure.Message}"));
        var token = new FailingToken();
        watch.Set("broken", [token], long.MaxValue);
        watch.Set("sound", [new FailingToken()], long.MaxValue);
        Assert.Empty(_changed);

        token.Failure = new InvalidOperationException("The test says so.");
        clock.Advance(TimeSpan.FromSeconds(2));

        Assert.Equal(["broken"], _changed);
        Assert.Equal(["broken: The test says so."], failed);
        Assert.Equal(1, watch.Count);
    }

    [Fact]
    public void Registration_that_cannot_be_disposed_is_reported_and_the_others_are_disposed()
    {
        var failed = new List<string>();
        using var source = new CancellationTokenSource();
        var watch = new DependencyWatch(new CacheClock(_clock), _changed.Add, (key, failure) => failed.Add($"{key}: {failure.Message}"));
        watch.Set("key", [new FailingToken { ActiveChangeCallbacks = true }, new CancellationChangeToken(source.Token)], long.MaxValue);

        watch.Dispose();
        source.Cancel();

        Assert.Equal(["key: The registration says so."], failed);
        Assert.Empty(_changed);
    }

    private DependencyWatch Open() => new(new CacheClock(_clock), _changed.Add);

    private sealed class FailingToken : IChangeToken, IDisposable
    {
        public Exception? Failure { get; set; }

        public bool HasChanged => Failure is null ? false : throw Failure;

        public bool ActiveChangeCallbacks { get; init; }

        public IDisposable RegisterChangeCallback(Action<object?> callback, object? state) => this;

        public void Dispose() => throw new InvalidOperationException("The registration says so.");
    }
}
