using System.Globalization;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Benchmarks.Server;

// Answers each line with the same value, in memcached's text protocol, on the engine of Cairn's server with one worker. The difference between a get and this
// is the cost of the protocol and of the store. The rest is the cost of the kernel and the engine.
internal static class EchoServer
{
    public const string Command = "echo-server";

    // The reply to a get of the load generator: keys of 12 bytes, values of 100.
    private static readonly byte[] _reply = [.. "VALUE key:00000000 0 100\r\n"u8, .. new byte[100], .. "\r\nEND\r\n"u8];

    /// <summary>Serves until the process is ended.</summary>
    public static int Serve(string[] arguments)
    {
        var listener = new ListenerOptions
        {
            Name = "echo",
            Address = ListenAddress.Tcp("127.0.0.1", int.Parse(arguments[0], CultureInfo.InvariantCulture)),
            Sessions = new Sessions(),
        };
        var options = new ServerEngineOptions { Listeners = [listener], Workers = 1 };
#pragma warning disable VSTHRD002 // The main thread of a program.
        _ = ServerEngine.StartAsync(options).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    private sealed class Sessions : SessionFactory
    {
        public override Session Create(ClientConnection connection) => new EchoSession();
    }

    private sealed class EchoSession : Session
    {
        public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
        {
            int consumed = 0;
            for (int executed = 0; executed < budget && !output.IsFull; executed++)
            {
                int end = input[consumed..].IndexOf((byte)'\n');
                if (end < 0)
                {
                    break;
                }

                consumed += end + 1;
                _reply.CopyTo(output.Reserve(_reply.Length));
                output.Advance(_reply.Length);
            }

            return consumed;
        }
    }
}
