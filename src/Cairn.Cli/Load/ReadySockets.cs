using System.Net.Sockets;

namespace Cairn.Cli.Load;

/// <summary>Waits for several sockets at once. Only one thread may use it.</summary>
internal abstract class ReadySockets : IDisposable
{
    /// <summary>Creates the fastest implementation for this system.</summary>
    public static ReadySockets Create() => OperatingSystem.IsLinux() ? new EpollSockets() : new SelectedSockets();

    /// <summary>Begins to wait for input of a socket.</summary>
    public abstract void Add(Socket socket, int number);

    public abstract void Remove(Socket socket, int number);

    /// <summary>Begins or ends waiting for output space of a socket.</summary>
    public abstract void WatchOutput(Socket socket, int number, bool isWatched);

    /// <summary>Waits until a socket is ready or the time is over.</summary>
    /// <param name="nanoseconds">The time limit.</param>
    /// <param name="ready">Receives the numbers of the ready sockets.</param>
    /// <returns>The number of ready sockets.</returns>
    public abstract int Wait(long nanoseconds, Span<int> ready);

    public void Dispose()
    {
        Dispose(isDisposing: true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool isDisposing);
}

// The implementation for systems without epoll. It checks all sockets each time, which is slow for many. Load measurements are meant for
// Linux; on other systems this suffices for trials.
internal sealed class SelectedSockets : ReadySockets
{
    private readonly Dictionary<Socket, int> _numbers = [];
    private readonly HashSet<Socket> _watched = [];

    public override void Add(Socket socket, int number) => _numbers[socket] = number;

    public override void Remove(Socket socket, int number)
    {
        _numbers.Remove(socket);
        _watched.Remove(socket);
    }

    public override void WatchOutput(Socket socket, int number, bool isWatched)
    {
        _ = isWatched ? _watched.Add(socket) : _watched.Remove(socket);
    }

    public override int Wait(long nanoseconds, Span<int> ready)
    {
        if (_numbers.Count == 0)
        {
            Thread.Sleep(TimeSpan.FromMicroseconds(nanoseconds / 1000.0));
            return 0;
        }

        var readable = _numbers.Keys.ToList();
        var writable = _watched.ToList();
        Socket.Select(readable, writable.Count > 0 ? writable : null, null, TimeSpan.FromMicroseconds(nanoseconds / 1000.0));
        int count = 0;
        foreach (Socket socket in readable.Union(writable))
        {
            if (count < ready.Length)
            {
                ready[count++] = _numbers[socket];
            }
        }

        return count;
    }

    protected override void Dispose(bool isDisposing)
    {
    }
}
