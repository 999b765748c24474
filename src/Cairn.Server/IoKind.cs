namespace Cairn.Server;

/// <summary>The kernel interface through which a server reads from and writes to its connections.</summary>
public enum IoKind
{
    /// <summary>The fastest one that works on this machine: io_uring, else epoll, else managed sockets. The server logs its choice and
    /// the reason.</summary>
    Auto = 0,

    /// <summary>io_uring. Needs Linux 5.19 or later, and a system that permits it (containers often forbid it).</summary>
    Uring,

    /// <summary>epoll. Works on every Linux.</summary>
    Epoll,

    /// <summary>The sockets of .NET. Work on every system.</summary>
    Sockets,
}
