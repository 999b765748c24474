namespace Cairn.Server;

/// <summary>How a server talks to the kernel.</summary>
public enum IoKind
{
    /// <summary>The fastest that works here: io_uring, else epoll, else managed sockets. The server's log says which, and
    /// why.</summary>
    Auto = 0,

    /// <summary>io_uring, Linux 5.19 and later, where it is not forbidden (containers often forbid it).</summary>
    Uring,

    /// <summary>epoll, every Linux.</summary>
    Epoll,

    /// <summary>The sockets of .NET, every system.</summary>
    Sockets,
}
