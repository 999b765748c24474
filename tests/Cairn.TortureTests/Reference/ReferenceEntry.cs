namespace Cairn.TortureTests.Reference;

/// <summary>An entry of the reference model: a value with a deadline.</summary>
internal sealed class ReferenceEntry
{
    public const long Never = long.MaxValue;

    public required byte[] Value { get; set; }

    public uint Flags { get; init; }

    /// <summary>Gets the time at which the entry expires, in Unix milliseconds.</summary>
    public long Deadline { get; private set; } = Never;

    /// <summary>Gets the time by which a read extends the entry's life, in milliseconds; 0 for none.</summary>
    public long SlidingMs { get; private set; }

    public long SlidingDeadline { get; private set; } = Never;

    /// <summary>Gets or sets the entry's version; 0 until a read has returned it.</summary>
    public ulong Version { get; set; }

    /// <summary>Gets or sets whether an operation may have given the same value another version.</summary>
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

    /// <summary>Extends the entry's life on a read. A read in the first eighth of the interval does not extend it.</summary>
    public void Slide(long now)
    {
        if (SlidingMs != 0 && SlidingDeadline > now && now + SlidingMs - SlidingDeadline >= Math.Max(1, SlidingMs / 8))
        {
            SlidingDeadline = now + SlidingMs;
        }
    }
}
