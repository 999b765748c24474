namespace Cairn.Benchmarks.Tests;

public class RunLogTests
{
    [Fact]
    public void Log_file_gets_what_must_not_be_missed_and_not_every_step()
    {
        using var target = new StringWriter();
        using var log = new RunLog(target, isTerminal: false);

        log.Progress("round 1");
        log.Progress("round 2");
        log.Say("LMDB is left out");

        Assert.Equal(["round 1", "LMDB is left out"], target.ToString().Split(target.NewLine, StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public void Terminal_gets_one_line_that_is_written_over_and_cleared_at_the_end()
    {
        using var target = new StringWriter();

        using (var log = new RunLog(target, isTerminal: true))
        {
            log.Progress("round 1");
            log.Progress("round 2");
        }

        Assert.Equal("\r\e[Kround 1\r\e[Kround 2\r\e[K", target.ToString());
    }
}
