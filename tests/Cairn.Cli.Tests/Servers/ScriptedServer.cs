using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Servers;

/// <summary>A server whose replies the test chooses, line by line.</summary>
internal sealed class ScriptedServer : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Func<string, string?> _answer;

    /// <summary>Starts to listen.</summary>
    /// <param name="answer">Returns the reply to a line; null to close the connection.</param>
    public ScriptedServer(Func<string, string?> answer)
    {
        _answer = answer;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        Address = _listener.LocalEndPoint!.ToString()!;
        new Thread(Accept) { IsBackground = true }.Start();
    }

    public string Address { get; }

    /// <summary>Gets the line after whose reply the server closes the connection; null to keep it open.</summary>
    public string? ClosesAfter { get; init; }

    public void Dispose() => _listener.Dispose();

    private void Accept()
    {
        try
        {
            while (true)
            {
                Socket socket = _listener.Accept();
                new Thread(() => Serve(socket)) { IsBackground = true }.Start();
            }
        }
        catch (SocketException)
        {
            // The test has ended.
        }
        catch (ObjectDisposedException)
        {
            // The test has ended.
        }
    }

    private void Serve(Socket socket)
    {
        try
        {
            using var stream = new NetworkStream(socket, ownsSocket: true);
            using var reader = new StreamReader(stream, Encoding.ASCII);
            while (reader.ReadLine() is { } line && _answer(line) is { } answer)
            {
                stream.Write(Encoding.ASCII.GetBytes(answer));
                if (line == ClosesAfter)
                {
                    return;
                }
            }
        }
        catch (IOException)
        {
            // The client has closed the connection, which is allowed.
        }
    }
}
