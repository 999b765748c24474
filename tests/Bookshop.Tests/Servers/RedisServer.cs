using System.Diagnostics;

namespace Bookshop.Tests.Servers;

/// <summary>A Redis server for the tests. Its socket is in a directory that is deleted on disposal.</summary>
internal sealed class RedisServer : IDisposable
{
    public const string Program = "redis-server";

    private readonly TestDirectory _directory = new();
    private readonly Process _process;

    public RedisServer()
    {
        _process = Process.Start(ServerProgram.StartOf(
            Program, ["--port", "0", "--unixsocket", Socket, "--dir", _directory.Path, "--save", "", "--appendonly", "no"]))!;
        SpinWait.SpinUntil(() => File.Exists(Socket) || _process.HasExited, TimeSpan.FromSeconds(30));
        Assert.False(_process.HasExited, "redis-server ended.");
    }

    public string Configuration => "!" + Socket;

    private string Socket => _directory["socket"];

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        _directory.Dispose();
    }
}
