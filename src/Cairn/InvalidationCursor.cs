namespace Cairn;

/// <summary>The position of a reader in the invalidation ring of one partition.</summary>
public readonly record struct InvalidationCursor
{
    internal InvalidationCursor(ulong position, uint overrun)
    {
        Position = position;
        Overrun = overrun;
    }

    /// <summary>Gets the number of changes before the cursor, counted since the store was created.</summary>
    public ulong Position { get; }

    internal uint Overrun { get; }
}
