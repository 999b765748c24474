// The byte ranges that one handle has locked, because Windows does not say: a lock that the same handle has already is refused like
// anybody else's, and unlocking takes exactly what one call locked.
//
//   I1  The ranges do not overlap. Each is one lock of the system.
namespace Cairn.Platform.Windows;

internal sealed class HeldRanges
{
    // A store holds one to three, and asks a few times a second.
    private readonly List<ByteRange> _ranges = [];

    /// <summary>The parts of a range that are not held, in order.</summary>
    public IReadOnlyList<ByteRange> GapsIn(ByteRange range)
    {
        List<ByteRange> gaps = [];
        long start = range.Start;
        foreach (ByteRange held in _ranges.Where(held => held.Overlaps(range)).OrderBy(held => held.Start))
        {
            if (held.Start > start)
            {
                gaps.Add(new ByteRange(start, held.Start));
            }

            start = Math.Max(start, held.End);
        }

        if (start < range.End)
        {
            gaps.Add(new ByteRange(start, range.End));
        }

        return gaps;
    }

    public void Add(ByteRange range) => _ranges.Add(range);

    /// <summary>Takes the locks that lie in a range out, for the caller to give them back.</summary>
    /// <exception cref="InvalidOperationException">A lock lies in it partly: the system cannot give back a part.</exception>
    public IReadOnlyList<ByteRange> TakeWithin(ByteRange range)
    {
        List<ByteRange> within = [.. _ranges.Where(held => held.Overlaps(range))];
        if (within.Exists(held => held.Start < range.Start || held.End > range.End))
        {
            throw new InvalidOperationException($"The bytes {range} are part of a range that was locked as one.");
        }

        _ranges.RemoveAll(within.Contains);
        return within;
    }
}

/// <summary>Bytes from <paramref name="Start"/> up to, but without, <paramref name="End"/>.</summary>
internal readonly record struct ByteRange(long Start, long End)
{
    public long Length => End - Start;

    public static ByteRange Of(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        return new ByteRange(offset, checked(offset + length));
    }

    public bool Overlaps(ByteRange other) => Start < other.End && other.Start < End;
}
