namespace Cairn.Caching.Tagging;

/// <summary>The state of a tag in this process.</summary>
/// <remarks>
/// The stamp is forgotten whenever the tag may have been invalidated, and read again from the second level. A stamp is not remembered if its
/// read began before the tag was last forgotten. While the stamp is not known, the tag has a provisional one, which changes each time the tag
/// is forgotten. Values that are created while the second level does not answer carry the provisional stamp. They are valid in this process
/// until the tag is invalidated here or its stamp becomes known.
/// </remarks>
internal sealed class Tag(string name, ulong hash, TagChanges? changes = null)
{
    /// <summary>No stamp: an entry with it is never valid.</summary>
    public const ulong Unknown = 0;

    // Stamps of the second level are random. One in four thousand million is as small as a provisional one; it only costs an extra read.
    private const uint FirstProvisional = 1;

    private readonly Lock _changing = new();
    private ulong _stamp = FirstProvisional;
    private TagState _state = new(FirstProvisional);
    private uint _forgotten = FirstProvisional;
    private long _readAtMs;

    public string Name { get; } = name;

    /// <summary>The hash under which the second level reports changes of the tag.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The stamp that valid entries carry; a provisional one if it is not known.</summary>
    public ulong Stamp => Volatile.Read(ref _stamp);

    /// <summary>The known state, or the provisional stamp.</summary>
    public TagState State
    {
        get
        {
            lock (_changing)
            {
                return _state;
            }
        }
    }

    /// <summary>Returns whether an entry with these tags is valid if this tag had the stamp when its value was created, as far as is known.</summary>
    public bool Allows(ulong stamp, Tag[] tags) => Stamp == stamp || State.Allows(stamp, tags);

    /// <summary>The number of times the stamp was forgotten, which is the provisional stamp. Read before the second level is read.</summary>
    public uint TimesForgotten => Volatile.Read(ref _forgotten);

    /// <summary>When the stamp was read, or the present read of it began. Only for second levels that do not report all changes.</summary>
    // A stale time costs at most one more read of the stamp, or delays it by the time of one.
    public long ReadAtMs => Volatile.Read(ref _readAtMs);

    /// <summary>
    /// Claims the next read of the stamp, so that one caller reads it and the others go on to use it. A claim that is not used is returned by a
    /// claim of an earlier moment.
    /// </summary>
    public bool TryClaimRead(long seenAtMs, long nowMs) => Interlocked.CompareExchange(ref _readAtMs, nowMs, seenAtMs) == seenAtMs;

    /// <summary>Returns whether the stamp is one of the second level.</summary>
    public static bool IsKnown(ulong stamp) => stamp > uint.MaxValue;

    public void Forget()
    {
        lock (_changing)
        {
            _forgotten++;
            Become(new TagState(_forgotten));
        }
    }

    /// <summary>Remembers the state, unless it was forgotten since the read of the second level began.</summary>
    public bool TryLearn(TagState state, uint timesForgotten, long nowMs)
    {
        lock (_changing)
        {
            if (_forgotten != timesForgotten)
            {
                return false;
            }

            Volatile.Write(ref _readAtMs, nowMs);
            Become(state);
            return true;
        }
    }

    private void Become(TagState state)
    {
        _state = state;
        Volatile.Write(ref _stamp, state.Stamp);
        changes?.Count();
    }
}
