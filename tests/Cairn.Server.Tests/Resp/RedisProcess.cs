using System.Globalization;
using System.Net;

namespace Cairn.Server.Tests.Resp;

/// <summary>A redis-server without persistence, on a port of its own.</summary>
internal sealed class RedisProcess : IDisposable
{
    private readonly ServerProgram _program;
    private readonly TestDirectory _directory;

    private RedisProcess(ServerProgram program, TestDirectory directory, IPEndPoint endPoint)
    {
        _program = program;
        _directory = directory;
        EndPoint = endPoint;
    }

    public IPEndPoint EndPoint { get; }

    public static RedisProcess Start(params string[] settings)
    {
        int port = FreePorts.Take();
        var directory = new TestDirectory();
        string[] arguments =
        [
            "--port", port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--databases", "1", "--dir", directory.Path, .. settings,
        ];
        try
        {
            return new RedisProcess(
                ServerProgram.Start("redis-server", arguments, "Ready to accept connections"), directory, new IPEndPoint(IPAddress.Loopback, port));
        }
        catch
        {
            directory.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        _program.Dispose();
        _directory.Dispose();
    }
}
