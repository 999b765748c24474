using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;

namespace Cairn.Cli.Tests.Servers;

/// <summary>A memcached or redis-server for one test, on a Unix socket, so that no port can be in use already.</summary>
internal sealed class PeerProcess : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly Process _process;

    private PeerProcess(string program, Func<string, string[]> arguments)
    {
        string path = _directory["peer.sock"];
        Address = $"unix:{path}";
        var start = new ProcessStartInfo(program, arguments(path)) { UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true };
        _process = Process.Start(start)!;
        while (!Answers(path))
        {
            Assert.False(_process.HasExited, $"{program} ended.");
            Thread.Yield();
        }
    }

    public string Address { get; }

    public static PeerProcess Memcached(params string[] flags) =>
        new("memcached", path => ["-s", path, "-m", "64", "-t", "1", "-u", Environment.UserName, .. flags]);

    public static PeerProcess Redis(params string[] settings) =>
        new("redis-server", path => ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", .. settings]);

    /// <summary>Gets the number of gets that a memcached has answered.</summary>
    public long Gets
    {
        get
        {
            using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(_directory["peer.sock"]));
            using var stream = new NetworkStream(socket);
            stream.Write("stats\r\n"u8);
            using var reader = new StreamReader(stream);
            long gets = 0;
            while (reader.ReadLine() is { } line && line != "END")
            {
                gets = line.StartsWith("STAT cmd_get ", StringComparison.Ordinal) ? long.Parse(line[13..], CultureInfo.InvariantCulture) : gets;
            }

            return gets;
        }
    }

    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
    }

    public void Dispose()
    {
        Kill();
        _process.Dispose();
        _directory.Dispose();
    }

    private static bool Answers(string path)
    {
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Connect(new UnixDomainSocketEndPoint(path));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
