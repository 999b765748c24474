using System.Diagnostics;

namespace Cairn.Platform;

/// <summary>Waiting on a word where wakes do not cross processes: by looking at it again and again.</summary>
internal static unsafe class PollingWait
{
    private const int LongestPauseMs = 15;

    /// <summary>As <see cref="StorePlatform.WaitOnAddress"/>, but of the other processes it notices only that the word has another value.</summary>
    /// <param name="address">The word.</param>
    /// <param name="expected">What it was.</param>
    /// <param name="timeout">At most this long, or for ever.</param>
    /// <param name="pause">
    /// Sleeps for so many milliseconds, as long as the word has the value; true if it was woken. The first pause takes a millisecond, and each
    /// next one twice as long, up to 15: an answer from another process is late by that much at most.
    /// </param>
    public static bool Run(uint* address, uint expected, TimeSpan timeout, delegate*<uint*, uint, int, bool> pause)
    {
        bool isBounded = timeout != Timeout.InfiniteTimeSpan;
        if (isBounded)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(timeout, TimeSpan.Zero);
        }

        long start = Stopwatch.GetTimestamp();
        for (int pauseMs = 1; ; pauseMs = Math.Min(pauseMs * 2, LongestPauseMs))
        {
            // Acquire: what was written before the word is read after it.
            if (Volatile.Read(ref *address) != expected)
            {
                return true;
            }

            TimeSpan left = isBounded ? timeout - Stopwatch.GetElapsedTime(start) : TimeSpan.MaxValue;
            if (left <= TimeSpan.Zero)
            {
                return false;
            }

            if (pause(address, expected, (int)Math.Min(pauseMs, Math.Ceiling(left.TotalMilliseconds))))
            {
                return true;
            }
        }
    }

    /// <summary>A pause that nothing ends before its time.</summary>
    public static bool Sleep(uint* address, uint expected, int pauseMs)
    {
        Thread.Sleep(pauseMs);
        return false;
    }
}
