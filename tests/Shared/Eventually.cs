using System.Diagnostics;

namespace Cairn.Testing;

/// <summary>Waits for a condition that becomes true at an unknown time. A test asserts that it becomes true, not when.</summary>
internal static class Eventually
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(2);

    public static void True(Func<bool> condition)
    {
        long start = Stopwatch.GetTimestamp();
        while (!condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < LongestWait, "It did not come true.");
            Thread.Sleep(Pause); // No event reports the condition.
        }
    }

    public static void Equal<T>(T expected, Func<T> actual) => True(() => Equals(expected, actual()));

    public static Task TrueAsync(Func<bool> condition, string what) => TrueAsync(() => Task.FromResult(condition()), what);

    public static async Task TrueAsync(Func<Task<bool>> condition, string what)
    {
        long start = Stopwatch.GetTimestamp();
        while (!await condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < LongestWait, $"It did not happen within {LongestWait.TotalSeconds} s: {what}");
            await Task.Delay(Pause); // No event reports the condition.
        }
    }

    public static async Task EqualAsync<T>(T expected, Func<Task<T>> actual)
    {
        long start = Stopwatch.GetTimestamp();
        T found = await actual();
        while (!EqualityComparer<T>.Default.Equals(found, expected) && Stopwatch.GetElapsedTime(start) < LongestWait)
        {
            await Task.Delay(Pause); // No event reports the value.
            found = await actual();
        }

        Assert.Equal(expected, found);
    }
}
