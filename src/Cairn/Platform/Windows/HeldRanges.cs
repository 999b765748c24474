// The byte ranges that one handle has locked. The store records them because Windows does not report them. Windows refuses a lock that the same handle
// already holds, like a lock of another handle. An unlock must name exactly the range of one lock call.
//
//   I1  The ranges do not overlap. Each is one lock of the system.
namespace Cairn.Platform.Windows;

internal sealed class HeldRanges
{
    // A store holds one to three ranges, and queries them a few times a second.
    private readonly List<HeldRange> _ranges = [];

    /// <summary>Returns the parts of a range that are not held, in order.</summary>
    public IReadOnlyList<HeldRange> GapsIn(HeldRange range)
    {
        List<HeldRange> gaps = [];
        long start = range.Start;
        foreach (HeldRange held in _ranges.Where(held => held.Overlaps(range)).OrderBy(held => held.Start))
        {
            if (held.Start > start)
            {
                gaps.Add(new HeldRange(start, held.Start));
            }

            start = Math.Max(start, held.End);
        }

        if (start < range.End)
        {
            gaps.Add(new HeldRange(start, range.End));
        }

        return gaps;
    }

    public void Add(HeldRange range) => _ranges.Add(range);

    /// <summary>Removes the locks in a range from the list and returns them. The caller releases them.</summary>
    /// <exception cref="InvalidOperationException">A lock is only partly in the range. The system cannot release a part of a lock.</exception>
    public IReadOnlyList<HeldRange> TakeWithin(HeldRange range)
    {
        List<HeldRange> within = [.. _ranges.Where(held => held.Overlaps(range))];
        if (within.Exists(held => held.Start < range.Start || held.End > range.End))
        {
            throw new InvalidOperationException($"The bytes {range} are part of a range that was locked as one.");
        }

        _ranges.RemoveAll(within.Contains);
        return within;
    }
}

/// <summary>The bytes from <paramref name="Start"/> up to, but not including, <paramref name="End"/>.</summary>
internal readonly record struct HeldRange(long Start, long End)
{
    public long Length => End - Start;

    public static HeldRange Of(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        return new HeldRange(offset, checked(offset + length));
    }

    public bool Overlaps(HeldRange other) => Start < other.End && other.Start < End;
}
