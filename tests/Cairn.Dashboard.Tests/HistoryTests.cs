using System.Buffers;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;

namespace Cairn.Dashboard.Tests;

/// <summary>The samples of the last minutes, and the sessions of users that have logged in.</summary>
public sealed class HistoryTests
{
    private static readonly Series[] s_series = [new("reads", SeriesKind.Counter)];

    [Fact]
    public void Samples_are_five_seconds_apart_and_one_second_while_a_page_asks()
    {
        var clock = new ManualClock(hasTimers: true);
        int reads = 0;
        using var history = new SampleHistory(s_series, (range, row) => (row[0] = reads += range == 0 ? 1 : 0) > 0, clock);

        Advance(clock, 20);
        Assert.Equal(4, reads);
        Ask(history, 0);
        Assert.Equal(5, reads); // A new page gets samples at once,
        Advance(clock, 10);
        Assert.Equal(15, reads); // then one each second,
        Advance(clock, 60);
        Assert.InRange(reads, 20 + 8, 20 + 22); // until no page has requested samples for a while.
    }

    [Fact]
    public void Samples_after_the_last_ones_are_returned_and_only_the_latest_are_kept()
    {
        var clock = new ManualClock(hasTimers: true);
        long value = 0;
        using var history = new SampleHistory(s_series, (_, row) => (row[0] = value++) >= 0, clock);
        for (int i = 0; i < HistoryRange.All[0].Capacity + 50; i++)
        {
            history.Take();
        }

        JsonElement all = Ask(history, 0);
        long next = all.GetProperty("next").GetInt64();
        history.Take();
        JsonElement further = Ask(history, next);

        Assert.Equal(HistoryRange.All[0].Capacity, all.GetProperty("samples").GetArrayLength());
        Assert.Equal(value - 1, Assert.Single(further.GetProperty("samples").EnumerateArray())[1].GetInt64());
        Assert.Equal(HistoryRange.All[0].Capacity, Ask(history, after: 1_000_000).GetProperty("samples").GetArrayLength());
    }

    [Fact]
    public void Last_24_hours_are_kept_in_a_block_that_does_not_grow()
    {
        var clock = new ManualClock(hasTimers: true);
        long value = 0;
        using var history = new SampleHistory(s_series, (_, row) => (row[0] = value++) >= 0, clock);
        Advance(clock, 3600);
        long before = GC.GetAllocatedBytesForCurrentThread();

        Advance(clock, 35 * 3600); // 25,200 samples and their timers. The clock of the test takes a few bytes for each.

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 25_200 * 200);
        for (int range = 0; range < HistoryRange.All.Count; range++)
        {
            HistoryRange kept = HistoryRange.All[range];
            JsonElement answer = Ask(history, 0, range);
            long[] times = [.. answer.GetProperty("samples").EnumerateArray().Select(sample => sample[0].GetInt64())];
            TimeSpan interval = range == 0 ? TimeSpan.FromSeconds(5) : kept.Interval; // No page requests samples.
            Assert.Equal(kept.Capacity, times.Length);
            Assert.Equal(answer.GetProperty("nowMs").GetInt64() - times[0], (kept.Capacity - 1) * interval.TotalMilliseconds, interval.TotalMilliseconds);
            Assert.All(times.Skip(1).Zip(times), pair => Assert.InRange(pair.First - pair.Second, 0, interval.TotalMilliseconds));
        }
    }

    [Fact]
    public void Percentiles_of_a_range_cover_the_time_since_its_last_sample()
    {
        var clock = new ManualClock(hasTimers: true);
        var asked = new List<int>();
        using var history = new SampleHistory(s_series, (range, _) => { asked.Add(range); return true; }, clock);

        Advance(clock, 600);

        Assert.Equal([120, 60, 5], Enumerable.Range(0, 3).Select(range => asked.Count(each => each == range)));
    }

    [Fact]
    public void Look_that_fails_leaves_a_gap()
    {
        var clock = new ManualClock(hasTimers: true);
        using var history = new SampleHistory(s_series, (_, _) => throw new ObjectDisposedException("store"), clock);

        Advance(clock, 10);

        Assert.Equal(0, Ask(history, 0).GetProperty("samples").GetArrayLength());
    }

    [Fact]
    public void Session_ends_half_an_hour_after_its_last_use_and_twelve_hours_after_its_begin()
    {
        var clock = new ManualClock(hasTimers: true);
        var sessions = new SessionTable(clock);
        string id = sessions.Begin(new DashboardUser { Name = "admin" });

        for (int i = 0; i < 24; i++)
        {
            clock.Advance(TimeSpan.FromMinutes(29));
            Assert.NotNull(sessions.Find(id));
        }

        clock.Advance(TimeSpan.FromMinutes(29));
        Assert.Null(sessions.Find(id));
        string idle = sessions.Begin(new DashboardUser());
        clock.Advance(TimeSpan.FromMinutes(31));
        Assert.Null(sessions.Find(idle));
    }

    [Fact]
    public void Session_beyond_the_limit_ends_the_one_that_was_not_used_for_the_longest_time()
    {
        var clock = new ManualClock(hasTimers: true);
        var sessions = new SessionTable(clock);
        string[] ids = [.. Enumerable.Range(0, 1000).Select(_ => Begin())];
        Assert.NotNull(sessions.Find(ids[0]));

        string further = Begin();

        Assert.NotNull(sessions.Find(ids[0]));
        Assert.Null(sessions.Find(ids[1]));
        Assert.All(ids[2..], id => Assert.NotNull(sessions.Find(id)));
        Assert.NotNull(sessions.Find(further));

        string Begin()
        {
            clock.Advance(TimeSpan.FromMilliseconds(1));
            return sessions.Begin(new DashboardUser());
        }
    }

    [Fact]
    public void Token_is_for_one_session()
    {
        var sessions = new SessionTable(TimeProvider.System);
        string one = sessions.Begin(new DashboardUser());
        string other = sessions.Begin(new DashboardUser());

        Assert.True(sessions.IsToken(one, sessions.TokenOf(one)));
        Assert.False(sessions.IsToken(one, sessions.TokenOf(other)));
        Assert.False(sessions.IsToken(one, sessions.TokenOf(null)));
        Assert.False(sessions.IsToken(one, null));
    }

    private static void Advance(ManualClock clock, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            clock.Advance(TimeSpan.FromSeconds(1));
        }
    }

    private static JsonElement Ask(SampleHistory history, long after, int range = 0)
    {
        var body = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(body))
        {
            writer.WriteStartObject();
            history.Write(writer, range, after);
            writer.WriteEndObject();
        }

        return JsonDocument.Parse(body.WrittenMemory).RootElement;
    }
}
