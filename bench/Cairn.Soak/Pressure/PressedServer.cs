using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Soak.Load;
using Cairn.Soak.Measuring;

namespace Cairn.Soak.Pressure;

/// <summary>A server with one worker and the entries that the clients request. A thread measures its memory.</summary>
internal sealed partial class PressedServer : IDisposable
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(50);

    private readonly Process _process;
    private readonly StringBuilder _log = new();
    private readonly ManualResetEventSlim _isOver = new();
    private readonly Thread _measuring;
    private readonly List<(TimeSpan At, long Bytes)> _memory = [];
    private readonly long _began = Stopwatch.GetTimestamp();

    private PressedServer(Process process)
    {
        _process = process;
        _measuring = new Thread(Measure) { IsBackground = true };
    }

    /// <summary>Gets the port of RESP.</summary>
    public int Port { get; private set; }

    /// <summary>Gets the port of memcached's protocols.</summary>
    public int MemcachedPort { get; private set; }

    public double CpuSeconds => ProcessFigures.CpuSecondsOf(_process.Id);

    public long AnonymousBytes => ProcessFigures.AnonymousBytesOf(_process.Id);

    /// <summary>Gets the anonymous memory in bytes since the start, with the time of each measurement.</summary>
    public IReadOnlyList<(TimeSpan At, long Bytes)> Memory
    {
        get
        {
            lock (_memory)
            {
                return [.. _memory];
            }
        }
    }

    /// <exception cref="InvalidOperationException">The server ended before it listened.</exception>
    /// <param name="options">The options of the run.</param>
    /// <param name="name">The name of the store's file.</param>
    /// <param name="stepsBack">Whether the server has a lower priority than other servers on the same processor.</param>
    public static PressedServer Start(PressureOptions options, string name = "store", bool stepsBack = false)
    {
        int connections = options.SlowReaders + options.GreedyClients + options.SteadyClients + 10;
        List<string> command =
        [
            .. options.IsPinned ? (string[])["taskset", "-c", "0"] : [],
            .. stepsBack ? ThreadRank.CommandBehind : [],
            .. options.Tool,
            "serve", "--store", Path.Combine(options.Folder, name + ".cairn"), "--capacity", "64MiB", "--threads", "1",
            "--memcached", "127.0.0.1:0", "--http", "off", "--resp", "127.0.0.1:0",
            "--max-connections", LineConnection.Text(connections), "--buffer-memory", $"{LineConnection.Text(options.BufferMemoryMiB)}MiB",
        ];
        Process process = Process.Start(new ProcessStartInfo(command[0], command[1..]) { UseShellExecute = false, RedirectStandardError = true })!;
        var server = new PressedServer(process);
        try
        {
            server.ReadPort();
            server.Fill();
            server._measuring.Start();
            return server;
        }
        catch
        {
            server.Dispose();
            throw;
        }
    }

    /// <summary>Asks the server to end. Returns false if it did not end within a minute.</summary>
    public bool Stop()
    {
        using (var signal = Process.Start("kill", ["-TERM", LineConnection.Text(_process.Id)]))
        {
            signal.WaitForExit();
        }

        return _process.WaitForExit(TimeSpan.FromMinutes(1));
    }

    public void Dispose()
    {
        _isOver.Set();
        if (_measuring.IsAlive)
        {
            _measuring.Join();
        }

        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }

        _process.Dispose();
        _isOver.Dispose();
    }

    private void ReadPort()
    {
        while (_process.StandardError.ReadLine() is { } line)
        {
            _log.AppendLine(line);
            if (ListeningLine().Match(line) is { Success: true } match)
            {
                int port = int.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture);
                (Port, MemcachedPort) = match.Groups[1].ValueSpan.Equals("resp", StringComparison.OrdinalIgnoreCase) ? (port, MemcachedPort) : (Port, port);
                if (Port == 0 || MemcachedPort == 0)
                {
                    continue;
                }

                // Discards the further output, so that it does not fill the pipe.
                _ = _process.StandardError.BaseStream.CopyToAsync(Stream.Null);
                return;
            }
        }

        throw new InvalidOperationException($"The server ended: {_log}");
    }

    private void Fill()
    {
        using var client = new RespClient(Port);
        client.Set(Greed.LongKey, new string('v', Greed.LongBytes), seconds: 0);
        using var fields = new LineConnection(Port);
        fields.Send(RespClient.Request(["HSET", Greed.HashKey, .. Enumerable.Range(0, Greed.HashFields).SelectMany(i => new[] { $"field-{i:D7}", $"value-{i:D7}" })]));
        fields.ReadLine();
        for (int key = 0; key < SteadyLoad.Keys; key++)
        {
            client.Set(SteadyLoad.NameOf(key), new string('v', SteadyLoad.ValueBytes), seconds: 0);
        }
    }

    private void Measure()
    {
        try
        {
            do
            {
                long bytes = AnonymousBytes;
                lock (_memory)
                {
                    _memory.Add((Stopwatch.GetElapsedTime(_began), bytes));
                }
            }
            while (!_isOver.Wait(s_period));
        }
        catch (IOException)
        {
            // The server has ended.
        }
    }

    [GeneratedRegex(@"listening for (resp|memcached) on 127\.0\.0\.1:(\d+)\.", RegexOptions.IgnoreCase)]
    private static partial Regex ListeningLine();
}
