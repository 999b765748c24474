namespace Cairn.Platform;

/// <summary>Waits on a word by polling it, on systems on which wakes do not reach other processes.</summary>
internal static unsafe class PollingWait
{
    private const int LongestPauseMs = 15;

    /// <summary>
    /// Does the same as <see cref="StorePlatform.WaitOnAddress"/>, but notices a change by another process only while the word still has another value.
    /// </summary>
    /// <param name="address">The address of the word.</param>
    /// <param name="expected">The previous value of the word.</param>
    /// <param name="timeout">The maximum time, or <see cref="Timeout.InfiniteTimeSpan"/>.</param>
    /// <param name="pause">
    /// Sleeps for the given number of milliseconds, as long as the word has the value. Returns true if it was woken. The first pause takes a millisecond,
    /// and each next one twice as long, up to 15. So a change by another process is noticed at most that much later.
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
            // Acquire; pairs with the store that changes the word. Data that was written before the word must be read after it.
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

    /// <summary>A pause that cannot be ended early.</summary>
    public static bool Sleep(uint* address, uint expected, int pauseMs)
    {
        Thread.Sleep(pauseMs);
        return false;
    }
}
