namespace Cairn.Server.Io.Uring;

/// <summary>What of io_uring is used where the kernel has it; each came with another Linux.</summary>
[Flags]
internal enum UringFeatures
{
    None = 0,

    /// <summary>6.0: one receive request serves a connection for life.</summary>
    MultishotReceive = 1,

    /// <summary>6.1: completions are worked off when the worker asks for them, not whenever the kernel likes.</summary>
    DeferredWork = 2,

    /// <summary>6.0: one thread submits, which saves the kernel some locking.</summary>
    SingleIssuer = 4,

    /// <summary>6.1: a send that fails for lack of room says how much it sent, and one that succeeds need not say so.</summary>
    SilentSends = 8,

    All = MultishotReceive | DeferredWork | SingleIssuer | SilentSends,
}
