namespace Cairn;

/// <summary>How far a reader has followed the changes of one partition.</summary>
public readonly record struct InvalidationCursor
{
    internal InvalidationCursor(ulong position, uint overrun)
    {
        Position = position;
        Overrun = overrun;
    }

    /// <summary>Changes that the reader has seen, since the store was created.</summary>
    public ulong Position { get; }

    internal uint Overrun { get; }
}
