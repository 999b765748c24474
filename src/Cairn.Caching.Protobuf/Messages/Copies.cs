using System.Diagnostics.CodeAnalysis;

namespace Cairn.Caching.Protobuf.Messages;

// Bounds the copying while a message is read. A member that is a message may occur several times, and its occurrences are merged. If it has
// an array, or another list that cannot grow, each occurrence copies the earlier items. Without a bound, the time to read would grow with
// the square of the message's length.
internal static class Copies
{
    // Far more items than the initial lists of types have, and far less than a second's work.
    private const long MostFromTheStart = 1 << 20;
    private const long MostForEachByte = 16;

    [ThreadStatic]
    private static long t_left;

    /// <summary>Starts the count for a message of this size.</summary>
    public static void Begin(long messageBytes) => t_left = MostFromTheStart + (MostForEachByte * messageBytes);

    /// <summary>Counts existing items before they are copied.</summary>
    /// <exception cref="InvalidDataException">The count exceeds the limit for the message's length.</exception>
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
