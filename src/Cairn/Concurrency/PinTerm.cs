namespace Cairn.Concurrency;

/// <summary>How long a pin is held. This decides which cells it can take (<see cref="OwnerTable"/> I5).</summary>
internal enum PinTerm
{
    /// <summary>Until the running code returns. Such a pin never waits for a client or for another thread's pin.</summary>
    Brief,

    /// <summary>As long as a client or a caller needs. Shares the cell of another lasting pin of the same segment.</summary>
    Lasting,

    /// <summary>Like <see cref="Lasting"/>, but takes no cell of its own, because other readers wait for the next free cell.</summary>
    LastingIfShared,
}
