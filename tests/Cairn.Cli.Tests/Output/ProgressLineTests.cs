using Cairn.Cli.Output;

namespace Cairn.Cli.Tests.Output;

public sealed class ProgressLineTests
{
    private readonly ManualClock _clock = new(hasTimers: true);

    [Fact]
    public void Progress_shows_rate_part_and_remaining_time_and_is_erased_at_the_end()
    {
        var console = new TestConsole { HasErrorTerminal = true, TestClock = _clock };

        using (var progress = new ProgressLine(console, "Exporting", "entries"))
        {
            _clock.Advance(TimeSpan.FromSeconds(2));
            progress.Report(count: 1000, done: 1000, total: 4000);
        }

        Assert.Equal("\rExporting · 1,000 entries · 500/s · 25.0 % · 6 s left\e[K\r\e[K", console.ErrorText);
    }

    [Fact]
    public void Progress_without_a_known_end_shows_what_is_known()
    {
        var console = new TestConsole { HasErrorTerminal = true, TestClock = _clock };
        using var progress = new ProgressLine(console, "Importing", "entries");

        _clock.Advance(TimeSpan.FromSeconds(2));
        progress.Report(count: 1000, done: 0, total: 0);

        Assert.Equal("\rImporting · 1,000 entries · 500/s\e[K", console.ErrorText);
    }

    [Fact]
    public void Work_that_ends_soon_shows_none()
    {
        var console = new TestConsole { HasErrorTerminal = true, TestClock = _clock };

        using (var progress = new ProgressLine(console, "Exporting", "entries"))
        {
            _clock.Advance(TimeSpan.FromMilliseconds(399));
            progress.Report(1, 1, 2);
        }

        Assert.Equal("", console.ErrorText);
    }

    [Fact]
    public void Without_a_terminal_there_is_none()
    {
        var console = new TestConsole { TestClock = _clock };

        using (var progress = new ProgressLine(console, "Exporting", "entries"))
        {
            _clock.Advance(TimeSpan.FromMinutes(1));
            progress.Report(1, 1, 2);
        }

        Assert.Equal("", console.ErrorText);
    }
}
