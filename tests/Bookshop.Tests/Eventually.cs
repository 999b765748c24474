using System.Diagnostics;

namespace Bookshop.Tests;

/// <summary>Waits for what happens soon, and not at a time that is known.</summary>
internal static class Eventually
{
    public static async Task IsAsync<T>(T expected, Func<Task<T>> look, TimeSpan? within = null)
    {
        var limit = within ?? TimeSpan.FromSeconds(20);
        var started = Stopwatch.GetTimestamp();
        var found = await look();
        while (!EqualityComparer<T>.Default.Equals(found, expected) && Stopwatch.GetElapsedTime(started) < limit)
        {
            await Task.Delay(5);
            found = await look();
        }

        Assert.Equal(expected, found);
    }
}
