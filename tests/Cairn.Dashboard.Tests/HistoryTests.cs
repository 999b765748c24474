using System.Buffers;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;

namespace Cairn.Dashboard.Tests;

/// <summary>What is kept of the last minutes, and of who has logged in.</summary>
public sealed class HistoryTests
{
    private static readonly Series[] s_series = [new("reads", SeriesKind.Counter)];

    [Fact]
    public void Nobody_looks_and_every_five_seconds_a_sample_is_taken_somebody_does_and_every_second()
    {
        var clock = new ManualClock(hasTimers: true);
        int reads = 0;
        using var history = new SampleHistory(s_series, row => (row[0] = ++reads) > 0, clock);

        Advance(clock, 20);
        Assert.Equal(4, reads);
        Ask(history, 0);
        Assert.Equal(5, reads); // At once, for who has just come,
        Advance(clock, 10);
        Assert.Equal(15, reads); // and then each second,
        Advance(clock, 60);
        Assert.InRange(reads, 20 + 8, 20 + 22); // until nobody has asked for a while.
    }

    [Fact]
    public void Samples_after_the_last_ones_are_told_and_only_the_latest_are_kept()
    {
        var clock = new ManualClock(hasTimers: true);
        long value = 0;
        using var history = new SampleHistory(s_series, row => (row[0] = value++) >= 0, clock);
        for (int i = 0; i < SampleHistory.Capacity + 50; i++)
        {
            history.Take();
        }

        JsonElement all = Ask(history, 0);
        long next = all.GetProperty("next").GetInt64();
        history.Take();
        JsonElement further = Ask(history, next);

        Assert.Equal(SampleHistory.Capacity, all.GetProperty("samples").GetArrayLength());
        Assert.Equal(value - 1, Assert.Single(further.GetProperty("samples").EnumerateArray())[1].GetInt64());
        Assert.Equal(SampleHistory.Capacity, Ask(history, after: 1_000_000).GetProperty("samples").GetArrayLength());
    }

    [Fact]
    public void Look_that_fails_leaves_a_gap()
    {
        var clock = new ManualClock(hasTimers: true);
        using var history = new SampleHistory(s_series, _ => throw new ObjectDisposedException("store"), clock);

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

    private static JsonElement Ask(SampleHistory history, long after)
    {
        var body = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(body))
        {
            writer.WriteStartObject();
            history.Write(writer, after);
            writer.WriteEndObject();
        }

        return JsonDocument.Parse(body.WrittenMemory).RootElement;
    }
}
