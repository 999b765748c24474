namespace Cairn.Concurrency;

/// <summary>How long a pin is held, which decides the cells it may take (<see cref="OwnerTable"/> I5).</summary>
internal enum PinTerm
{
    /// <summary>Until the running code returns. Such a pin never waits for a client or for another thread's pin.</summary>
    Brief,

    /// <summary>For as long as a client or a caller takes. Shares the cell of another lasting pin of the same segment.</summary>
    Lasting,

    /// <summary>As <see cref="Lasting"/>, but takes no cell of its own: others wait for the next one.</summary>
    LastingIfShared,
}
