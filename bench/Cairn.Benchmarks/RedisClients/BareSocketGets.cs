using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>Sends the same request over a bare socket, asynchronously as the client does, and ignores the content of the reply.</summary>
internal sealed class BareSocketGets : IContender
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly byte[] _request;
    private readonly byte[] _reply = new byte[4096];
    private readonly int _operations;

    public BareSocketGets(int port, string key, int operations)
    {
        _request = Encoding.ASCII.GetBytes($"*2\r\n$3\r\nGET\r\n${key.Length}\r\n{key}\r\n");
        _operations = operations;
        _socket.Connect(IPAddress.Loopback, port);
    }

    public string Name => "a bare socket";

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var meter = Meter.Start();
        RunAll();
        return meter.Stop(_operations);
    }

    public void Dispose() => _socket.Dispose();

#pragma warning disable VSTHRD002 // A benchmark has a thread of its own.
    private void RunAll() => Task.Run(GetAsync).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private async Task GetAsync()
    {
        for (var i = 0; i < _operations; i++)
        {
            await _socket.SendAsync(_request.AsMemory(), SocketFlags.None).ConfigureAwait(false);
            await _socket.ReceiveAsync(_reply.AsMemory(), SocketFlags.None).ConfigureAwait(false);
        }
    }
}
