using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Server.Tests.Resp;

/// <summary>A redis-server that keeps nothing, on a port of its own.</summary>
internal sealed class RedisProcess : IDisposable
{
    private readonly Process _process;
    private readonly TestDirectory _directory;

    private RedisProcess(Process process, TestDirectory directory, IPEndPoint endPoint)
    {
        _process = process;
        _directory = directory;
        EndPoint = endPoint;
    }

    public IPEndPoint EndPoint { get; }

    public static RedisProcess Start(params string[] settings)
    {
        // The port was free a moment ago; if it is taken by then, redis-server ends, and so does the test.
        int port;
        using (var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            port = ((IPEndPoint)probe.LocalEndPoint!).Port;
        }

        var directory = new TestDirectory();
        var start = new ProcessStartInfo("redis-server") { RedirectStandardOutput = true, UseShellExecute = false };
        string[] arguments =
        [
            "--port", port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--databases", "1", "--dir", directory.Path, .. settings,
        ];
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        Process process = Process.Start(start)!;
        while (process.StandardOutput.ReadLine() is { } line)
        {
            if (line.Contains("Ready to accept connections", StringComparison.Ordinal))
            {
                // What it still has to say fits the pipe.
                return new RedisProcess(process, directory, new IPEndPoint(IPAddress.Loopback, port));
            }
        }

        process.Dispose();
        directory.Dispose();
        throw new InvalidOperationException("redis-server ended before it accepted connections.");
    }

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        _directory.Dispose();
    }
}
