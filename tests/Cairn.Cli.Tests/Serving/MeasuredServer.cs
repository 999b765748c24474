using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.Cli.Tests.Serving;

/// <summary>
/// A server process that speaks RESP, and a thread that measures its memory continuously. It measures anonymous memory, because the kernel can
/// reclaim the pages of the store's file.
/// </summary>
internal sealed partial class MeasuredServer : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(2);

    // The time in which a busy machine returns memory. The pressure benchmark measures the actual seconds.
    private static readonly TimeSpan s_timeToReturn = TimeSpan.FromMinutes(1);

    private readonly StoreDirectory _directory = new();
    private readonly ToolProcess _process;
    private readonly Thread _measuring;
    private readonly ManualResetEventSlim _isOver = new();
    private readonly int _port;
    private long _peakBytes;

    private MeasuredServer(string[] options)
    {
        _process = ToolProcess.Start(
        [
            "serve", "--store", _directory.FilePath, "--capacity", "64MiB", "--threads", "1",
            "--memcached", "off", "--http", "off", "--resp", "127.0.0.1:0", .. options,
        ]);
        var log = new StringBuilder();
        while (_port == 0 && _process.ReadErrorLine() is { Length: > 0 } line)
        {
            log.AppendLine(line);
            _port = ListeningLine().Match(line) is { Success: true } match ? int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture) : 0;
        }

        Assert.True(_port != 0, $"The server ended: {log}");
        _measuring = new Thread(Measure) { IsBackground = true };
    }

    /// <summary>Gets the present anonymous memory in bytes.</summary>
    public long ResidentBytes
    {
        get
        {
            foreach (string line in File.ReadLines($"/proc/{ServerId}/status"))
            {
                if (line.StartsWith("RssAnon:", StringComparison.Ordinal))
                {
                    return long.Parse(line.AsSpan("RssAnon:".Length, line.Length - "RssAnon:".Length - " kB".Length), CultureInfo.InvariantCulture) << 10;
                }
            }

            return 0;
        }
    }

    /// <summary>Gets the maximum since the clients connected, in bytes.</summary>
    public long PeakBytes => Interlocked.Read(ref _peakBytes);

    /// <summary>Gets the memory before the clients connected, in bytes.</summary>
    public long IdleBytes { get; private set; }

    // The server replaces the process that was started.
    private int ServerId => _process.Id;

    /// <param name="setup">The requests that prepare the store.</param>
    /// <param name="options">The options of the server, in addition to those of every test.</param>
    public static MeasuredServer Start(byte[] setup, params string[] options)
    {
        var server = new MeasuredServer(options);
        using (Socket client = server.Connect())
        {
            client.Send(setup);
            server.Ping(client);
        }

        server.IdleBytes = server._peakBytes = server.ResidentBytes;
        server._measuring.Start();
        return server;
    }

    public Socket Connect(int? receiveBufferBytes = null)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.ReceiveTimeout = socket.SendTimeout = (int)s_patience.TotalMilliseconds;
        if (receiveBufferBytes is { } bytes)
        {
            socket.ReceiveBufferSize = bytes;
        }

        socket.Connect(IPAddress.Loopback, _port);
        return socket;
    }

    /// <summary>Checks that a client gets a reply to PING.</summary>
    public void Ping()
    {
        using Socket client = Connect();
        Ping(client);
    }

    /// <summary>Checks that the memory falls to this limit after the clients have left, without any further request.</summary>
    public void AssertReturnsWithin(long bytes)
    {
        var patience = System.Diagnostics.Stopwatch.StartNew();
        while (ResidentBytes > IdleBytes + bytes && patience.Elapsed < s_timeToReturn)
        {
            _isOver.Wait(s_period); // There is no event for memory that was returned.
        }

        Assert.True(
            ResidentBytes <= IdleBytes + bytes,
            $"{ResidentBytes >> 20} MiB after {patience.Elapsed.TotalSeconds:N1} s, {IdleBytes >> 20} MiB when idle, {PeakBytes >> 20} MiB at most.");
    }

    public void AssertPeakWithin(long bytes) => Assert.True(
        PeakBytes <= IdleBytes + bytes, $"{PeakBytes >> 20} MiB at most, {IdleBytes >> 20} MiB when idle.");

    public void Dispose()
    {
        _isOver.Set();
        if (_measuring.IsAlive)
        {
            _measuring.Join();
        }

        _process.Dispose();
        _isOver.Dispose();
        _directory.Dispose();
    }

    private void Ping(Socket client)
    {
        client.Send("PING\r\n"u8);
        byte[] reply = new byte[4096];
        var text = new StringBuilder();
        while (!text.ToString().EndsWith("+PONG\r\n", StringComparison.Ordinal))
        {
            int count = client.Receive(reply);
            Assert.True(count > 0, "The server closed the connection.");
            text.Append(Encoding.ASCII.GetString(reply, 0, count));
        }
    }

    private void Measure()
    {
        do
        {
            Interlocked.Exchange(ref _peakBytes, Math.Max(_peakBytes, ResidentBytes));
        }
        while (!_isOver.Wait(s_period));
    }

    [GeneratedRegex(@"Listening for resp on 127\.0\.0\.1:(\d+)\.", RegexOptions.IgnoreCase)]
    private static partial Regex ListeningLine();
}
