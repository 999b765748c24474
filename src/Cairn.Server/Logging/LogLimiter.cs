using Cairn.Server.Timing;

namespace Cairn.Server.Logging;

/// <summary>The kinds of messages that may be frequent.</summary>
internal enum LogSubject
{
    RequestTooLarge = 0,
    RequestTooSlow,
    ReaderTooSlow,
    ReaderStalled,
    TooMuchOutput,
    TransactionTooLong,
    OutOfMemory,
    TlsFailed,
    SlowRequest,
}

/// <summary>Lets the first message of a kind through, then one every ten seconds. Thread-safe.</summary>
internal sealed class LogLimiter(TimeProvider clock)
{
    private const long QuietMs = 10_000;
    private static readonly int s_subjects = Enum.GetValues<LogSubject>().Length;

    private readonly long[] _toldAt = [.. Enumerable.Repeat(long.MinValue, s_subjects)];
    private readonly long[] _unsaid = new long[s_subjects];

    /// <summary>Returns whether to log this message now.</summary>
    /// <param name="subject">The kind of the message.</param>
    /// <param name="others">A text with the number of messages of this kind that were not logged; empty if none.</param>
    public bool MayTell(LogSubject subject, out string others)
    {
        long now = clock.GetTimestampMs();
        long toldAt = Interlocked.Read(ref _toldAt[(int)subject]);
        bool isDue = toldAt == long.MinValue || now - toldAt >= QuietMs;
        if (!isDue || Interlocked.CompareExchange(ref _toldAt[(int)subject], now, toldAt) != toldAt)
        {
            Interlocked.Increment(ref _unsaid[(int)subject]);
            others = "";
            return false;
        }

        long unsaid = Interlocked.Exchange(ref _unsaid[(int)subject], 0);
        others = unsaid == 0 ? "" : $" ({unsaid} more since the last such line)";
        return true;
    }
}
