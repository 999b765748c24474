using Cairn.Server.Logging;

namespace Cairn.Server.Tests.Connections;

public sealed class LogLimiterTests
{
    [Fact]
    public void First_of_a_kind_is_logged_and_then_one_in_ten_seconds_with_the_number_of_the_others()
    {
        var clock = new ManualClock(hasTimers: true);
        var limiter = new LogLimiter(clock);

        Assert.True(limiter.MayTell(LogSubject.ReaderTooSlow, out string others));
        Assert.Equal("", others);
        clock.Advance(TimeSpan.FromMilliseconds(9_999));
        Assert.False(limiter.MayTell(LogSubject.ReaderTooSlow, out _));
        Assert.False(limiter.MayTell(LogSubject.ReaderTooSlow, out _));
        Assert.True(limiter.MayTell(LogSubject.TlsFailed, out _));
        clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(limiter.MayTell(LogSubject.ReaderTooSlow, out others));
        Assert.Equal(" (2 more since the last such line)", others);
    }
}
