// A thread with a part of the connections. It waits for input on any of them, processes the input, and then sends all requests that are
// due.
using System.Collections.Concurrent;
using System.Net.Sockets;
using Cairn.Cli.Clients;
using Cairn.Platform;

namespace Cairn.Cli.Load;

/// <summary>A lost connection with the reason.</summary>
internal sealed record LostConnection(LoadWorker Worker, LoadConnection Connection, string Reason);

internal sealed class LoadWorker : IDisposable
{
    private const int InputBytes = 64 << 10;
    private const int OutputBytes = 64 << 10;
    private const long LongestWait = 50_000_000;

    private readonly LoadPlan _plan;
    private readonly List<(LoadConnection Connection, LoadWire? Wire)> _connections = [];
    private readonly byte[] _input = GC.AllocateUninitializedArray<byte>(InputBytes, pinned: true);
    private readonly byte[] _output;
    private readonly ReadySockets _sockets = ReadySockets.Create();
    private readonly int[] _ready = new int[256];
    private readonly ConcurrentQueue<LostConnection> _lost;
    private readonly ConcurrentQueue<(int Place, ServerLink Link)> _replacements = new();
    private volatile bool _hasReplacements;

    /// <summary>Creates a worker without connections.</summary>
    /// <param name="plan">The plan of the load.</param>
    /// <param name="forms">The forms of requests.</param>
    /// <param name="lost">Receives lost connections.</param>
    public LoadWorker(LoadPlan plan, RequestForms forms, ConcurrentQueue<LostConnection> lost)
    {
        _plan = plan;
        _lost = lost;
        _output = GC.AllocateUninitializedArray<byte>(Math.Max(OutputBytes, forms.MaxRequestBytes), pinned: true);
    }

    public LoadCounters Counters { get; } = new();

    /// <summary>Gets the exception that ended the thread early; null if there was none.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Adds a connection. Only allowed before the first job.</summary>
    public void Add(LoadConnection connection, ServerLink link)
    {
        _connections.Add((connection, null));
        Connect(_connections.Count - 1, link);
    }

    /// <summary>Gives a lost connection another link. Safe from any thread.</summary>
    public void Replace(LoadConnection connection, ServerLink link)
    {
        _replacements.Enqueue((_connections.FindIndex(pair => pair.Connection == connection), link));
        _hasReplacements = true;
    }

    /// <summary>Starts a job on a separate thread. The thread ends when the job has no more requests and all have a reply.</summary>
    /// <param name="job">The job.</param>
    /// <param name="giveUpAfter">The time limit for the last replies, in nanoseconds.</param>
    public Thread Start(LoadJob job, long giveUpAfter)
    {
        var thread = new Thread(() => Run(job, giveUpAfter)) { IsBackground = true, Name = "load" };
        if (!BackgroundThread.TryStart(thread))
        {
            job.Stop();
            throw ToolException.Refused(ExitCode.Store);
        }

        return thread;
    }

    public void Dispose()
    {
        foreach ((_, LoadWire? wire) in _connections)
        {
            wire?.Dispose();
        }

        while (_replacements.TryDequeue(out (int Place, ServerLink Link) replacement))
        {
            replacement.Link.Dispose();
        }

        _sockets.Dispose();
    }

    private void Run(LoadJob job, long giveUpAfter)
    {
        try
        {
            Work(job, giveUpAfter);
        }
#pragma warning disable CA1031 // An exception would end the process here. The thread that joins this one throws it.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            Failure = failure;
            job.Stop();
        }
    }

    private void Work(LoadJob job, long giveUpAfter)
    {
        foreach ((LoadConnection connection, _) in _connections)
        {
            connection.Begin(job);
        }

        var schedule = new Schedule(job, _connections, _plan.Connections);
        for (int i = 0; i < _connections.Count; i++)
        {
            Send(i, LoadJob.Now);
        }

        long stoppedAt = long.MaxValue;
        while (true)
        {
            int ready = _sockets.Wait(schedule.IsOpen ? Math.Min(schedule.Next - LoadJob.Now, LongestWait) : LongestWait, _ready);
            foreach (int place in _ready.AsSpan(0, ready))
            {
                Serve(place);
            }

            if (schedule.IsOpen)
            {
                long now = LoadJob.Now;
                while (schedule.TryNext(now, out int place))
                {
                    _connections[place].Connection.Due();
                    Send(place, now);
                }
            }

            if (_hasReplacements)
            {
                TakeReplacements();
            }

            if (job.IsStopping || job.Taken == job.Requests)
            {
                long now = LoadJob.Now;
                stoppedAt = Math.Min(stoppedAt, now);
                if (now - stoppedAt > giveUpAfter)
                {
                    LoseUnanswered();
                }

                if (IsAllAnswered())
                {
                    return;
                }
            }
        }
    }

    private bool IsAllAnswered()
    {
        foreach ((LoadConnection connection, LoadWire? wire) in _connections)
        {
            if (connection.UnderWay > 0 && wire is not null)
            {
                return false;
            }
        }

        return true;
    }

    // Later replies on these connections would be assigned to other requests.
    private void LoseUnanswered()
    {
        for (int i = 0; i < _connections.Count; i++)
        {
            if (_connections[i] is { Connection.UnderWay: > 0, Wire: not null })
            {
                Lose(i, "no answer in time");
            }
        }
    }

    private void Serve(int place)
    {
        (LoadConnection connection, LoadWire? wire) = _connections[place];
        if (wire is null)
        {
            return;
        }

        try
        {
            if (wire.HasUnsent)
            {
                wire.SendUnsent();
                if (!wire.HasUnsent)
                {
                    _sockets.WatchOutput(wire.Socket, place, isWatched: false);
                }
            }

            if (!wire.Receive(connection, _input, out long now))
            {
                Lose(place, $"not a reply: '{connection.ProtocolViolation}'");
                return;
            }

            SendAll(place, wire, connection, now);
        }
        catch (SocketException failure)
        {
            Lose(place, ServerLink.Reason(failure));
        }
        catch (IOException failure)
        {
            Lose(place, failure.Message);
        }
    }

    private void Send(int place, long now)
    {
        (LoadConnection connection, LoadWire? wire) = _connections[place];
        if (wire is null)
        {
            return;
        }

        try
        {
            SendAll(place, wire, connection, now);
        }
        catch (SocketException failure)
        {
            Lose(place, ServerLink.Reason(failure));
        }
        catch (IOException failure)
        {
            Lose(place, failure.Message);
        }
    }

    private void SendAll(int place, LoadWire wire, LoadConnection connection, long now)
    {
        while (!wire.HasUnsent && connection.Build(_output, now) is > 0 and var bytes)
        {
            wire.Send(_output.AsSpan(0, bytes));
            if (wire.HasUnsent)
            {
                _sockets.WatchOutput(wire.Socket, place, isWatched: true);
            }
        }
    }

    private void Lose(int place, string reason)
    {
        (LoadConnection connection, LoadWire? wire) = _connections[place];
        _sockets.Remove(wire!.Socket, place);
        wire.Dispose();
        connection.Reset();
        _connections[place] = (connection, null);
        _lost.Enqueue(new LostConnection(this, connection, reason));
    }

    private void TakeReplacements()
    {
        _hasReplacements = false;
        while (_replacements.TryDequeue(out (int Place, ServerLink Link) replacement))
        {
            Connect(replacement.Place, replacement.Link);
            Send(replacement.Place, LoadJob.Now);
        }
    }

    private void Connect(int place, ServerLink link)
    {
        var wire = new LoadWire(link);
        _connections[place] = (_connections[place].Connection, wire);
        _sockets.Add(wire.Socket, place);
    }

    // The schedule of an open loop: requests are due at equal intervals, on one connection after the other.
    private struct Schedule
    {
        private readonly List<(LoadConnection Connection, LoadWire? Wire)> _connections;
        private readonly double _step;
        private readonly long _startedAt;
        private readonly double[] _first;
        private long _turn;

        public Schedule(LoadJob job, List<(LoadConnection Connection, LoadWire? Wire)> connections, int allConnections)
        {
            _connections = connections;
            _startedAt = job.StartedAt;
            if (job.RequestsPerSecond is { } rate)
            {
                IsOpen = true;
                _step = 1e9 / rate * allConnections;
            }

            double distance = _step / allConnections;
            _first = [.. connections.Select(pair => pair.Connection.Number * distance)];
        }

        public bool IsOpen { get; }

        /// <summary>Gets the time at which the next request is due.</summary>
        public readonly long Next => _startedAt + (long)((_turn / _connections.Count * _step) + _first[_turn % _connections.Count]);

        public bool TryNext(long now, out int place)
        {
            place = (int)(_turn % _connections.Count);
            if (now < Next)
            {
                return false;
            }

            _turn++;
            return true;
        }
    }
}
