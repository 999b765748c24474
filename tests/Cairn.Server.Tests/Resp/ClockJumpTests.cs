using System.Globalization;

namespace Cairn.Server.Tests.Resp;

/// <summary>The machine's clock is set forward or back while a server runs.</summary>
public sealed class ClockJumpTests : IDisposable
{
    private readonly ManualClock _clock = new();
    private readonly RespHost _host;
    private readonly RespClient _client;

    public ClockJumpTests()
    {
        _host = new RespHost(_clock);
        _client = _host.Connect();
    }

    public void Dispose() => _host.Dispose();

    [Fact]
    public void Clock_that_is_set_forward_ends_what_expires_and_nothing_else()
    {
        _client.Run("SET kept 1");
        _client.Run("SET gone 1 EX 60");

        _clock.Advance(TimeSpan.FromHours(1));

        Assert.Equal("$1\r\n1\r\n$-1\r\n", _client.Run("GET kept") + _client.Run("GET gone"));
        Assert.Equal("+OK\r\n:60\r\n", _client.Run("SET new 1 EX 60") + _client.Run("TTL new"));
    }

    [Fact]
    public void Clock_that_is_set_back_lets_entries_live_longer_and_counting_begins_again()
    {
        _client.Run("SET old 1 EX 60");

        _clock.Advance(TimeSpan.FromHours(-1));

        Assert.Equal("$1\r\n1\r\n:3660\r\n", _client.Run("GET old") + _client.Run("TTL old"));
        Assert.Equal("+OK\r\n:60\r\n", _client.Run("SET new 1 EX 60") + _client.Run("TTL new"));
        Assert.Equal("+OK\r\n$1\r\n2\r\n", _client.Run("SET old 2") + _client.Run("GET old"));
        Assert.Equal(":1\r\n$-1\r\n", _client.Run("DEL old") + _client.Run("GET old"));
    }

    [Fact]
    public void Server_that_is_asked_after_a_clock_was_set_back_runs_no_negative_time()
    {
        _clock.Advance(TimeSpan.FromDays(-1));

        string line = _client.Run("INFO server").Split("\r\n").Single(text => text.StartsWith("uptime_in_seconds:", StringComparison.Ordinal));

        Assert.InRange(long.Parse(line.Split(':')[1], CultureInfo.InvariantCulture), 0, 3600);
    }

    [Fact]
    public void Client_is_not_younger_than_its_connection_after_the_clock_was_set_back()
    {
        _clock.Advance(TimeSpan.FromDays(-1));

        Assert.Contains(" age=0 ", _client.Run("CLIENT INFO"), StringComparison.Ordinal);
    }
}
