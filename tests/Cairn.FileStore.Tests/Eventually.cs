using System.Diagnostics;

namespace Cairn.FileStore.Tests;

/// <summary>What the cache finds out by looking at the file now and then. A test that waits asserts that it comes true, not when.</summary>
internal static class Eventually
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    public static void True(Func<bool> condition)
    {
        long start = Stopwatch.GetTimestamp();
        while (!condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < LongestWait, "It did not come true.");
            Thread.Sleep(1); // Nobody tells.
        }
    }

    public static void Equal<T>(T expected, Func<T> actual) => True(() => Equals(expected, actual()));
}
