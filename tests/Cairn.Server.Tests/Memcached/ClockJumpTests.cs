namespace Cairn.Server.Tests.Memcached;

/// <summary>The machine's clock is set forward or back while a server runs.</summary>
public sealed class ClockJumpTests : IDisposable
{
    private readonly SessionUnderTest _session = new();

    public void Dispose() => _session.Dispose();

    [Fact]
    public void Clock_that_is_set_forward_ends_what_expires_and_nothing_else()
    {
        _session.Send("set kept 0 0 1\r\n1\r\nset gone 0 60 1\r\n1\r\n");

        _session.Clock.Advance(TimeSpan.FromHours(1));

        Assert.Equal("VALUE kept 0 1\r\n1\r\nEND\r\n", _session.Send("get kept gone\r\n"));
        Assert.Equal("STORED\r\nHD t60\r\n", _session.Send("set new 0 60 1\r\n1\r\nmg new t\r\n"));
    }

    [Fact]
    public void Clock_that_is_set_back_lets_entries_live_longer_and_counting_begins_again()
    {
        _session.Send("set old 0 60 1\r\n1\r\n");

        _session.Clock.Advance(TimeSpan.FromHours(-1));

        Assert.Equal("HD t3660\r\n", _session.Send("mg old t\r\n"));
        Assert.Equal("STORED\r\nHD t60\r\n", _session.Send("set new 0 60 1\r\n1\r\nmg new t\r\n"));
        Assert.Equal("OK\r\nEND\r\n", _session.Send("flush_all\r\nget old new\r\n"));
        Assert.Equal("STORED\r\nVALUE old 0 1\r\n2\r\nEND\r\n", _session.Send("set old 0 0 1\r\n2\r\nget old\r\n"));
    }

    [Fact]
    public void Server_that_is_asked_after_a_clock_was_set_back_runs_no_negative_time()
    {
        _session.Clock.Advance(TimeSpan.FromDays(-1));

        Assert.Matches(@"STAT uptime \d+\r\n", _session.Send("stats\r\n"));
    }
}
