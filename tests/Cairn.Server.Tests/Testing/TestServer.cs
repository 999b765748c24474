using System.Net;
using Cairn.Server.Connections;
using Cairn.Server.Listening;

namespace Cairn.Server.Tests.Testing;

/// <summary>An engine that serves <see cref="TestSession"/>s on a port of its own.</summary>
internal sealed class TestServer : IAsyncDisposable
{
    private TestServer(ServerEngine engine, TestSessions sessions, TestLog log)
    {
        Engine = engine;
        Sessions = sessions;
        Log = log;
    }

    public ServerEngine Engine { get; }

    public TestSessions Sessions { get; }

    public TestLog Log { get; }

    public IPEndPoint EndPoint => Engine.Listeners.First(listener => !listener.IsUnix).EndPoint!;

    public static async Task<TestServer> StartAsync(
        LoopUnderTest loop,
        Func<ServerEngineOptions, ServerEngineOptions>? configure = null,
        ListenAddress? address = null,
        TlsOptions? tls = null)
    {
        var sessions = new TestSessions();
        var log = new TestLog();
        var listener = new ListenerOptions
        {
            Name = "test",
            Address = address ?? ListenAddress.Tcp("127.0.0.1", 0),
            Sessions = sessions,
            Tls = tls,
        };
        var options = new ServerEngineOptions { Listeners = [listener], Log = log, Workers = 2 };
        options = (configure?.Invoke(options) ?? options).With(loop);
        return new TestServer(await ServerEngine.StartAsync(options), sessions, log);
    }

    public TestClient Connect() => TestClient.Connect(EndPoint);

    public async ValueTask DisposeAsync()
    {
        await Engine.DisposeAsync();
        Engine.AssertNothingHeld();
    }
}
