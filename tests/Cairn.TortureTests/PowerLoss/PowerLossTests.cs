using System.Globalization;
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
        int runs = TortureRun.Count(30, 20_000);
        int images = 0;
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
        }

        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{images} disks were looked at."));
    }
}
