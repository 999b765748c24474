namespace Cairn.TortureTests.Reference;

/// <summary>What the reference remembers of a key: a dictionary entry with a deadline.</summary>
internal sealed class ReferenceEntry
{
    public const long Never = long.MaxValue;

    public required byte[] Value { get; set; }

    public uint Flags { get; init; }

    /// <summary>The moment it is gone, Unix milliseconds.</summary>
    public long Deadline { get; private set; } = Never;

    /// <summary>By how much a read extends its life; 0 for not at all.</summary>
    public long SlidingMs { get; private set; }

    public long SlidingDeadline { get; private set; } = Never;

    /// <summary>0 until it was seen.</summary>
    public ulong Version { get; set; }

    /// <summary>True if an operation may have given the same value another version.</summary>
    public bool IsPerhapsRewritten { get; set; }

    public long EffectiveDeadline => Math.Min(Deadline, SlidingDeadline);

    public bool IsLive(long now) => EffectiveDeadline > now;

    public void Expire(long deadline, long slidingMs, long now)
    {
        Deadline = deadline;
        SlidingMs = slidingMs;
        SlidingDeadline = slidingMs == 0 ? Never : now + slidingMs;
    }

    public void ExpireLike(ReferenceEntry other)
    {
        Deadline = other.Deadline;
        SlidingMs = other.SlidingMs;
        SlidingDeadline = other.SlidingDeadline;
    }

    /// <summary>A read in the first eighth of the interval extends nothing.</summary>
    public void Slide(long now)
    {
        if (SlidingMs != 0 && SlidingDeadline > now && now + SlidingMs - SlidingDeadline >= Math.Max(1, SlidingMs / 8))
        {
            SlidingDeadline = now + SlidingMs;
        }
    }
}
