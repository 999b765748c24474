namespace Cairn.Server.Io.Uring;

/// <summary>The optional features of io_uring. Each needs a certain version of Linux.</summary>
[Flags]
internal enum UringFeatures
{
    None = 0,

    /// <summary>6.0: one receive request serves a connection until it ends.</summary>
    MultishotReceive = 1,

    /// <summary>6.1: the kernel processes completions when the worker asks for them, not at any time.</summary>
    DeferredWork = 2,

    /// <summary>6.0: only one thread submits, which saves the kernel some locking.</summary>
    SingleIssuer = 4,

    /// <summary>6.1: a send that fails for lack of room reports how much it sent, and a send that succeeds need not report it.</summary>
    SilentSends = 8,

    All = MultishotReceive | DeferredWork | SingleIssuer | SilentSends,
}
