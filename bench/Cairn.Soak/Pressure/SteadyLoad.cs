using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>Clients that request short values and read every answer. One thread serves all their connections.</summary>
internal sealed class SteadyLoad : IDisposable
{
    /// <summary>The number of keys that the clients request: <c>key:0000</c> and up.</summary>
    public const int Keys = 10_000;

    /// <summary>The length of the values in bytes.</summary>
    public const int ValueBytes = 100;

    private static readonly TimeSpan LongestAnswer = TimeSpan.FromSeconds(30);
    private static readonly int ReplyBytes = $"${ValueBytes}\r\n".Length + ValueBytes + 2;

    private readonly Epoll _epoll = new();
    private readonly Socket[] _sockets;
    private readonly long[] _dueTicks;
    private readonly int[] _received;
    private readonly Queue<int> _idle;
    private readonly byte[] _reply = new byte[ReplyBytes + 1];
    private readonly byte[][] _requests = [.. Enumerable.Range(0, Keys).Select(key => Encoding.ASCII.GetBytes(RespClient.Request("GET", NameOf(key))))];
    private readonly List<long> _latencies = new(1 << 20);
    private int _next;
    private int _broken;

    public SteadyLoad(int port, int clients)
    {
        _sockets = new Socket[clients];
        _dueTicks = new long[clients];
        _received = new int[clients];
        _idle = new Queue<int>(clients);
        for (int i = 0; i < clients; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            socket.Connect(IPAddress.Loopback, port);
            socket.Blocking = false;
            _sockets[i] = socket;
            _epoll.Watch(socket, i);
            _idle.Enqueue(i);
        }
    }

    public static string NameOf(int key) => "key:" + key.ToString("D4", CultureInfo.InvariantCulture);

    /// <summary>
    /// Sends requests at the given rate, then waits for the last answers. Without a rate, each client sends its next request as soon as it has an
    /// answer.
    /// </summary>
    public SteadyFigures Run(TimeSpan length, double? perSecond)
    {
        _latencies.Clear();
        long interval = perSecond is { } rate ? (long)(Stopwatch.Frequency / rate) : 0;
        long due = Stopwatch.GetTimestamp();
        long end = due + (long)(length.TotalSeconds * Stopwatch.Frequency);
        long now = due;
        while (now < end)
        {
            while (_idle.Count > 0 && due <= now)
            {
                Send(interval == 0 ? now : due);
                due += interval;
                now = Stopwatch.GetTimestamp();
            }

            Receive(due > now ? Stopwatch.GetElapsedTime(now, Math.Min(due, end)) : Stopwatch.GetElapsedTime(now, end));
            now = Stopwatch.GetTimestamp();
        }

        long giveUp = end + (long)(LongestAnswer.TotalSeconds * Stopwatch.Frequency);
        while (_idle.Count + _broken < _sockets.Length && now < giveUp)
        {
            Receive(Stopwatch.GetElapsedTime(now, giveUp));
            now = Stopwatch.GetTimestamp();
        }

        _latencies.Sort();
        return new SteadyFigures(_latencies.Count, _sockets.Length - _idle.Count, At(0.5), At(0.99), At(0.999));
    }

    public void Dispose()
    {
        Array.ForEach(_sockets, socket => socket.Dispose());
        _epoll.Dispose();
    }

    private double At(double share) => _latencies.Count == 0
        ? double.NaN
        : Stopwatch.GetElapsedTime(0, _latencies[Math.Min((int)(share * _latencies.Count), _latencies.Count - 1)]).TotalMicroseconds;

    private void Send(long due)
    {
        int client = _idle.Dequeue();
        _next = (_next + 7) % Keys;
        _dueTicks[client] = due;
        _received[client] = 0;
        byte[] request = _requests[_next];
        if (_sockets[client].Send(request, SocketFlags.None, out _) != request.Length)
        {
            Break(client);
        }
    }

    private void Receive(TimeSpan longest)
    {
        int count = _epoll.Wait(longest);
        for (int i = 0; i < count; i++)
        {
            int client = _epoll[i];
            if (_dueTicks[client] < 0)
            {
                continue;
            }

            int received = _sockets[client].Receive(_reply, SocketFlags.None, out SocketError error);
            if (error == SocketError.WouldBlock)
            {
                continue;
            }

            int before = _received[client];
            _received[client] += received;
            if (received == 0 || before + received > ReplyBytes || (before == 0 && _reply[0] != '$') || error != SocketError.Success)
            {
                Break(client);
            }
            else if (_received[client] == ReplyBytes)
            {
                _latencies.Add(Stopwatch.GetTimestamp() - _dueTicks[client]);
                _idle.Enqueue(client);
            }
        }
    }

    // A broken client never becomes idle again. So every later phase counts it as failed.
    private void Break(int client)
    {
        _broken++;
        _dueTicks[client] = -1;
        _sockets[client].Dispose(); // Disposing also ends the watching.
    }
}
