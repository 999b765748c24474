using Cairn.Caching.Levels;
using Cairn.Platform;

namespace Cairn.Caching.Tests.Levels;

public sealed class PromptCodeTests
{
    [Fact]
    public async Task Calls_for_which_the_system_refuses_a_thread_do_not_count_as_blocked()
    {
        var code = new PromptCode(isKnown: false);
        using var gate = new ManualResetEventSlim();
        List<Task<int>> blocked = [];
        for (int i = 0; i < Math.Max(1, Environment.ProcessorCount / 2); i++)
        {
            Assert.True(TryRun(code, gate, out Task<int>? running));
            blocked.Add(running!);
        }

        BackgroundThread.IsRefused = true;
        for (int i = 0; i < 200; i++)
        {
            Assert.False(TryRun(code, gate, out _));
        }

        BackgroundThread.IsRefused = false;
        Assert.True(TryRun(code, gate, out Task<int>? last));
        gate.Set();
        Assert.All(await Task.WhenAll([.. blocked, last!]), result => Assert.Equal(42, result));
    }

    private static bool TryRun(PromptCode code, ManualResetEventSlim gate, out Task<int>? running) => code.TryRunElsewhere(
        gate,
        static (gate, _) =>
        {
            gate.Wait(TimeSpan.FromMinutes(1), CancellationToken.None);
            return Task.FromResult(42);
        },
        CancellationToken.None,
        out running);
}
