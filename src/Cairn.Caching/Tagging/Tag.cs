namespace Cairn.Caching.Tagging;

/// <summary>A tag as this process knows it.</summary>
/// <remarks>
/// The stamp is forgotten whenever the tag may have been invalidated, and learned again from the second level. What was asked before the
/// stamp was last forgotten is not learned.
/// </remarks>
internal sealed class Tag(string name, ulong hash)
{
    /// <summary>A stamp that is not known: the second level has to be asked.</summary>
    public const ulong Unknown = 0;

    private readonly Lock _changing = new();
    private ulong _stamp;
    private int _forgotten;

    public string Name { get; } = name;

    /// <summary>The hash by which the second level reports its changes.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The stamp that entries must carry to count, or <see cref="Unknown"/>.</summary>
    public ulong Stamp => Volatile.Read(ref _stamp);

    /// <summary>How often the stamp was forgotten; taken before the second level is asked.</summary>
    public int TimesForgotten => Volatile.Read(ref _forgotten);

    public void Forget()
    {
        lock (_changing)
        {
            _forgotten++;
            Volatile.Write(ref _stamp, Unknown);
        }
    }

    /// <summary>Remembers the stamp, unless it was forgotten since the second level was asked for it.</summary>
    public bool TryLearn(ulong stamp, int timesForgotten)
    {
        lock (_changing)
        {
            if (_forgotten != timesForgotten)
            {
                return false;
            }

            Volatile.Write(ref _stamp, stamp);
            return true;
        }
    }
}
