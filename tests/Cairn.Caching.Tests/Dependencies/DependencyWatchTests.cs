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

    private DependencyWatch Open() => new(new CacheClock(_clock), _changed.Add);
}
