namespace Cairn.Caching.Tagging;

/// <summary>A tag as this process knows it.</summary>
internal sealed class Tag(string name, ulong hash)
{
    /// <summary>A stamp that is not known: the second level has to be asked.</summary>
    public const ulong Unknown = 0;

    private ulong _stamp;

    public string Name { get; } = name;

    /// <summary>The hash by which the second level reports its changes.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The stamp that entries must carry to count, or <see cref="Unknown"/>.</summary>
    public ulong Stamp
    {
        get => Volatile.Read(ref _stamp);
        set => Volatile.Write(ref _stamp, value);
    }

    /// <summary>Sets the stamp unless another thread has set or forgotten it since it was <paramref name="seen"/>.</summary>
    public bool TrySetStamp(ulong stamp, ulong seen) => Interlocked.CompareExchange(ref _stamp, stamp, seen) == seen;
}
