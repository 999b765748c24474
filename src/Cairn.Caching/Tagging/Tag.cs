namespace Cairn.Caching.Tagging;

/// <summary>A tag as this process knows it.</summary>
/// <remarks>
/// The stamp is forgotten whenever the tag may have been invalidated, and learned again from the second level. What was asked before the
/// stamp was last forgotten is not learned. As long as it is not known, the tag has a provisional one, which another follows each time the
/// tag is forgotten: values that are made while the second level cannot be asked carry it, and count in this process until the tag is
/// invalidated here or its stamp becomes known.
/// </remarks>
internal sealed class Tag(string name, ulong hash, TagChanges? changes = null)
{
    /// <summary>No stamp at all: what carries it never counts.</summary>
    public const ulong Unknown = 0;

    // Those of the second level are random: that one of them is as small happens once in four thousand million, and costs a question.
    private const uint FirstProvisional = 1;

    private readonly Lock _changing = new();
    private ulong _stamp = FirstProvisional;
    private uint _forgotten = FirstProvisional;

    public string Name { get; } = name;

    /// <summary>The hash by which the second level reports its changes.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The stamp that entries must carry to count; a provisional one if it is not known.</summary>
    public ulong Stamp => Volatile.Read(ref _stamp);

    /// <summary>How often the stamp was forgotten, which is the provisional one; taken before the second level is asked.</summary>
    public uint TimesForgotten => Volatile.Read(ref _forgotten);

    /// <summary>True for a stamp of the second level.</summary>
    public static bool IsKnown(ulong stamp) => stamp > uint.MaxValue;

    public void Forget()
    {
        lock (_changing)
        {
            _forgotten++;
            Volatile.Write(ref _stamp, _forgotten);
            changes?.Count();
        }
    }

    /// <summary>Remembers the stamp, unless it was forgotten since the second level was asked for it.</summary>
    public bool TryLearn(ulong stamp, uint timesForgotten)
    {
        lock (_changing)
        {
            if (_forgotten != timesForgotten)
            {
                return false;
            }

            Volatile.Write(ref _stamp, stamp);
            changes?.Count();
            return true;
        }
    }
}
