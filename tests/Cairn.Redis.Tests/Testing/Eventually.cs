using System.Diagnostics;

namespace Cairn.Redis.Tests.Testing;

/// <summary>Waits for what another process does, and tells what did not happen.</summary>
internal static class Eventually
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    public static async Task TrueAsync(Func<Task<bool>> condition, string what)
    {
        long start = Stopwatch.GetTimestamp();
        while (!await condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < s_patience, $"It did not happen within {s_patience.TotalSeconds} s: {what}");
            await Task.Delay(5); // Nobody tells.
        }
    }

    public static Task TrueAsync(Func<bool> condition, string what) => TrueAsync(() => Task.FromResult(condition()), what);
}
