using System.Diagnostics.CodeAnalysis;

namespace Cairn.Caching.Protobuf.Members;

// Bounds what is copied while a message is read. A member that is a message may come many times, and its occurrences are merged. Where it
// has an array, or another list that cannot be added to, each occurrence copies what was there: without a bound, the time to read would
// grow with the square of the message's length.
internal static class Copies
{
    // Far more than lists take that types begin with; far less than a second's work.
    private const long MostFromTheStart = 1 << 20;
    private const long MostForEachByte = 16;

    [ThreadStatic]
    private static long t_left;

    /// <summary>A whole message is about to be read.</summary>
    public static void Begin(long messageBytes) => t_left = MostFromTheStart + (MostForEachByte * messageBytes);

    /// <summary>Items that were there are about to be copied.</summary>
    /// <exception cref="InvalidDataException">They are more than the message's length justifies.</exception>
    public static void Take(int items)
    {
        t_left -= items;
        if (t_left < 0)
        {
            ThrowTooMany();
        }
    }

    [DoesNotReturn]
    private static void ThrowTooMany() =>
        throw new InvalidDataException("The message repeats members with lists so often that reading it would take too long.");
}
