using System.Globalization;
using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>
/// The power fails at any moment. What the disk kept of what was not flushed is chosen at random: nothing is lost that was acknowledged as
/// durable, and nothing is there that was not written, or had been removed.
/// </summary>
public sealed class PowerLossTests(ITestOutputHelper output)
{
    [Fact]
    public void Loss_of_power_at_any_moment_loses_nothing_that_was_acknowledged_and_brings_nothing_back()
    {
        var torture = new TortureRun(output);
        int runs = TortureRun.Count(20, 20_000);
        int images = 0;
        int refusals = 0;
        for (int run = 0; run < runs; run++)
        {
            int seed = run == 0 ? torture.Seed : TortureRun.SeedOf(torture.Seed, run) & int.MaxValue;
            var power = new PowerLossRun(seed);
            try
            {
                power.Execute(lives: 4, looks: 9);
            }
            catch (InvalidOperationException fault)
            {
                throw new InvalidOperationException($"{fault.Message}\nAgain: {torture.ReplayOf(seed)}", fault);
            }

            images += power.Images;
            refusals += power.Refusals;
        }

        Assert.True(refusals > 0);

        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{images} disks were looked at; full ones refused {refusals} changes."));
    }

    [Fact]
    public void Loss_of_power_in_the_first_opening_after_a_log_failed_loses_nothing_that_was_closed() => FirstOpening(Mishap.DiskFailed);

    [Fact]
    public void Loss_of_power_in_the_first_opening_after_a_log_was_deleted_loses_nothing_that_was_closed() => FirstOpening(Mishap.LogDeleted);

    [Fact]
    public void Loss_of_power_while_many_write_at_once_loses_nothing_that_was_acknowledged()
    {
        var torture = new TortureRun(output);
        for (int run = 0; run < TortureRun.Count(5, 2_000); run++)
        {
            int seed = run == 0 ? torture.Seed : TortureRun.SeedOf(torture.Seed, run) & int.MaxValue;
            try
            {
                new ConcurrentPowerLossRun(seed).Execute(looks: 25);
            }
            catch (InvalidOperationException fault)
            {
                throw new InvalidOperationException($"{fault.Message}\nAgain, in another order: {torture.ReplayOf(seed)}", fault);
            }
        }
    }

    private void FirstOpening(Mishap mishap, [CallerMemberName] string test = "")
    {
        var torture = new TortureRun(output, test);
        for (int run = 0; run < TortureRun.Count(6, 2_000); run++)
        {
            int seed = run == 0 ? torture.Seed : TortureRun.SeedOf(torture.Seed, run) & int.MaxValue;
            try
            {
                new PowerLossRun(seed).ExecuteFirstOpening(mishap);
            }
            catch (InvalidOperationException fault)
            {
                throw new InvalidOperationException($"{fault.Message}\nAgain: {torture.ReplayOf(seed)}", fault);
            }
        }
    }
}
