using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Cairn.Soak.Load;
using Cairn.Soak.Measuring;

namespace Cairn.Soak.Running;

/// <summary>A server of the tool on a store of its own. It can be killed and started again at the same ports.</summary>
internal sealed class SoakServer : IDisposable
{
    /// <summary>The largest size of the store's file in MiB.</summary>
    public const int MaxCapacityMiB = 96;

    private const string Capacity = "32MiB";

    private static readonly TimeSpan LongestStart = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LongestStop = TimeSpan.FromSeconds(60);

    private readonly string _tool;
    private readonly StreamWriter _log;
    private readonly Lock _logLock = new();
    private Process? _process;

    public SoakServer(string name, string tool, string storePath)
    {
        Name = name;
        _tool = tool;
        StorePath = storePath;
        string folder = Path.GetDirectoryName(storePath)!;
        Directory.CreateDirectory(folder);
        _log = new StreamWriter(Path.Combine(folder, "server.log"), append: true) { AutoFlush = true };
        Ports = new ServerPorts(FreePort(), FreePort());
    }

    public string Name { get; }

    public string StorePath { get; }

    public ServerPorts Ports { get; }

    public TimeSpan LongestRestart { get; private set; }

    /// <summary>Gets the resources of the process from the kernel, or null while it does not run.</summary>
    public ProcessFigures? Figures
    {
        get
        {
            try
            {
                return _process is { HasExited: false } process ? ProcessFigures.Of(process.Id) : null;
            }
            catch (IOException)
            {
                return null;
            }
        }
    }

    public long FileBytes => File.Exists(StorePath) ? new FileInfo(StorePath).Length : 0;

    public long FolderBytes => new DirectoryInfo(Path.GetDirectoryName(StorePath)!)
        .EnumerateFiles("store.cairn*").Sum(file => file.Length);

    /// <summary>Starts the server and waits for its first answer.</summary>
    /// <exception cref="InvalidOperationException">The server ended, or does not answer.</exception>
    public void Start()
    {
        long began = Stopwatch.GetTimestamp();
        var start = new ProcessStartInfo(_tool)
        {
            ArgumentList =
            {
                "serve", "--store", StorePath, "--capacity", Capacity, "--max-capacity", $"{LineConnection.Text(MaxCapacityMiB)}MiB", "--threads", "1", "--http", "off",
                "--memcached", Address(Ports.Memcached), "--resp", Address(Ports.Resp),
            },
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        Process process = Process.Start(start)!;
        process.OutputDataReceived += Note;
        process.ErrorDataReceived += Note;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        _process = process;
        while (!Answers())
        {
            if (process.HasExited || Stopwatch.GetElapsedTime(began) > LongestStart)
            {
                throw new InvalidOperationException($"The server '{Name}' does not answer; its log is beside {StorePath}.");
            }

            Thread.Sleep(5);
        }
    }

    /// <summary>Kills the server (SIGKILL) and starts it again.</summary>
    public void KillAndRestart()
    {
        _process!.Kill();
        _process.WaitForExit();
        _process.Dispose();
        long began = Stopwatch.GetTimestamp();
        Start();
        TimeSpan took = Stopwatch.GetElapsedTime(began);
        LongestRestart = took > LongestRestart ? took : LongestRestart;
    }

    /// <summary>Asks the server to end. Returns its exit code, or null if it had to be killed.</summary>
    public int? Stop()
    {
        Process process = _process!;
        _process = null;
        using (process)
        {
            using (var signal = Process.Start("kill", ["-TERM", process.Id.ToString(CultureInfo.InvariantCulture)]))
            {
                signal.WaitForExit();
            }

            if (process.WaitForExit(LongestStop))
            {
                return process.ExitCode;
            }

            process.Kill();
            process.WaitForExit();
            return null;
        }
    }

    public void ForgetRestarts() => LongestRestart = TimeSpan.Zero;

    public void Dispose()
    {
        _process?.Kill();
        _process?.WaitForExit();
        _process?.Dispose();
        _log.Dispose();
    }

    private void Note(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is { } text)
        {
            lock (_logLock)
            {
                _log.WriteLine(text);
            }
        }
    }

    private bool Answers()
    {
        try
        {
            using var connection = new LineConnection(Ports.Resp);
            connection.Send(RespClient.Request("PING"));
            return connection.ReadLine() == "+PONG";
        }
        catch (SocketException)
        {
            return false; // The server does not answer yet.
        }
    }

    private static string Address(int port) => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}");

    private static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return ((IPEndPoint)socket.LocalEndPoint!).Port;
    }
}
