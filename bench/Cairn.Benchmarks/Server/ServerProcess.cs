using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;

namespace Cairn.Benchmarks.Server;

/// <summary>A running server with a core and a folder of its own.</summary>
internal sealed class ServerProcess : IDisposable
{
    /// <summary>The core of the servers. Only one of them works at a time.</summary>
    public const int Core = 0;

    private static readonly TimeSpan _longestStart = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan _longestStop = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan _pollInterval = TimeSpan.FromMilliseconds(0.5);

    private readonly Process _process;

    private ServerProcess(Process process, ServerAddress address, string folder)
    {
        _process = process;
        Address = address;
        Folder = folder;
    }

    public int Id => _process.Id;

    public ServerAddress Address { get; }

    public string Folder { get; }

    /// <summary>Gets the time from the start of the process to its first answer.</summary>
    public TimeSpan FirstAnswerAfter { get; private set; }

    /// <summary>Starts a server and waits for its first answer.</summary>
    /// <exception cref="InvalidOperationException">The server ended or did not answer.</exception>
    public static ServerProcess Start(ServerProgram program, WireProtocol protocol, string folder, bool isUnix, bool isPinned = true)
    {
        Directory.CreateDirectory(folder);
        var address = isUnix ? new ServerAddress(0, Path.Combine(folder, "socket")) : new ServerAddress(FreePort());
        var arguments = program.Arguments(address, protocol, folder);
        var start = isPinned
            ? new ProcessStartInfo("taskset", ["-c", Core.ToString(CultureInfo.InvariantCulture), program.Path, .. arguments])
            : new ProcessStartInfo(program.Path, arguments);
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        start.UseShellExecute = false;
        foreach (var (name, value) in program.Environment)
        {
            start.Environment[name] = value;
        }

        var messages = new List<string>();
        var startedAt = Stopwatch.GetTimestamp();
        var process = Process.Start(start)!;
        process.OutputDataReceived += Note;
        process.ErrorDataReceived += Note;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        var server = new ServerProcess(process, address, folder);
        try
        {
            var question = protocol == WireProtocol.Resp ? "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"u8 : "get a\r\n"u8;
            while (!Answers(address, question))
            {
                if (process.HasExited || Stopwatch.GetElapsedTime(startedAt) > _longestStart)
                {
                    throw new InvalidOperationException($"{program.Name} does not answer: {Messages()}");
                }

                Thread.Sleep(_pollInterval);
            }

            server.FirstAnswerAfter = Stopwatch.GetElapsedTime(startedAt);
            return server;
        }
        catch
        {
            server.Dispose();
            throw;
        }

        void Note(object sender, DataReceivedEventArgs line)
        {
            lock (messages)
            {
                messages.Add(line.Data ?? string.Empty);
            }
        }

        string Messages()
        {
            lock (messages)
            {
                return string.Join(' ', messages).Trim();
            }
        }
    }

    /// <summary>Returns the resident memory in bytes, without that of the mapped file at <paramref name="mappedPath"/>.</summary>
    public long ResidentBytesBeside(string mappedPath) =>
        ResidentMemory.SumBeside(mappedPath, File.ReadLines($"/proc/{Id.ToString(CultureInfo.InvariantCulture)}/smaps"));

    /// <summary>Opens idle connections to the server.</summary>
    public IReadOnlyList<Socket> Connect(int count)
    {
        var sockets = new List<Socket>(count);
        for (var i = 0; i < count; i++)
        {
            var socket = MakeSocket(Address);
            sockets.Add(socket);
            socket.Connect(Address.EndPoint);
        }

        return sockets;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            using var signal = Process.Start("kill", ["-TERM", Id.ToString(CultureInfo.InvariantCulture)]);
            if (!_process.WaitForExit(_longestStop))
            {
                _process.Kill();
            }
        }

        _process.WaitForExit();
        _process.Dispose();
    }

    private static int FreePort()
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 0));
        return ((System.Net.IPEndPoint)socket.LocalEndPoint!).Port;
    }

    private static Socket MakeSocket(ServerAddress address) => address.UnixPath is null
        ? new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        : new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    private static bool Answers(ServerAddress address, ReadOnlySpan<byte> question)
    {
        using var socket = MakeSocket(address);
        try
        {
            socket.Connect(address.EndPoint);
            socket.Send(question);
            Span<byte> answer = stackalloc byte[64];
            return socket.Receive(answer) > 0;
        }
        catch (SocketException)
        {
            return false; // The server does not listen yet.
        }
    }
}
