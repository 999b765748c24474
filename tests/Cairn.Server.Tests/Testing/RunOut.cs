using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Tests.Memcached.Binary;

namespace Cairn.Server.Tests.Testing;

/// <summary>
/// A server with one worker for tests of limits. While greedy clients exhaust a limit, other clients of the same worker are served and memory
/// stays below a bound. After they have left, the connections use as much memory as before.
/// </summary>
internal sealed class RunOut : IAsyncDisposable
{
    // A worker returns its blocks when it was idle between two checks, which are two seconds apart.
    private const int LooksUntilQuiet = 3;

    private readonly ManualClock _clock;
    private readonly List<TestClient> _greedy = [];
    private readonly TestClient _resp;
    private readonly TestClient _memcached;
    private readonly TestClient _binary;
    private long _idleBytes;

    private RunOut(StoreServer server, ManualClock clock)
    {
        Server = server;
        _clock = clock;
        _resp = server.Connect(WireProtocol.Resp);
        _memcached = server.Connect(WireProtocol.Memcached);
        _binary = server.Connect(WireProtocol.Binary);
    }

    public StoreServer Server { get; }

    public ServerEngine Engine => Server.Engine;

    public static async Task<RunOut> StartAsync(ConnectionLimits limits, Action<RespServer>? configureResp = null)
    {
        var clock = new ManualClock(hasTimers: true);
        StoreServer server = await StoreServer.StartAsync(
            configure: options => options with { Limits = limits, Clock = clock }, configureResp: configureResp);
        var runOut = new RunOut(server, clock);
        runOut.AssertOthersAreServed();
        await runOut.UntilQuietAsync();
        runOut._idleBytes = server.Engine.Memory.Bytes;
        return runOut;
    }

    /// <summary>Creates a client that exhausts the limit, by default with RESP. If it does not read, the kernel buffers little for it.</summary>
    public TestClient Greedy(WireProtocol protocol = WireProtocol.Resp)
    {
        TestClient client = Server.Connect(protocol, receiveBufferBytes: 4096);
        _greedy.Add(client);
        return client;
    }

    /// <summary>Checks that clients of all protocols can write and read, and that the connections hold at most this many bytes.</summary>
    public void AssertOthersAreServed(long mostBytes = long.MaxValue)
    {
        _resp.Send("SET other value\r\nGET other\r\n");
        Assert.Equal(["+OK\r", "$5\r", "value\r"], [_resp.ReadLine(), _resp.ReadLine(), _resp.ReadLine()]);
        _memcached.Send("get other\r\n");
        Assert.Equal(["VALUE other 0 5\r", "value\r", "END\r"], [_memcached.ReadLine(), _memcached.ReadLine(), _memcached.ReadLine()]);
        _binary.Send(BinaryRequest.Make(BinaryRequest.Get, "other"));
        Assert.Equal("value"u8, _binary.Read(BinaryRequest.HeadBytes + 5).AsSpan(BinaryRequest.HeadBytes));
        Assert.InRange(Engine.Memory.Bytes, 0, mostBytes);
    }

    /// <summary>Moves the time for all workers.</summary>
    public async Task PassAsync(TimeSpan time)
    {
        _clock.Advance(time);
        Engine.Wake();
        await Engine.UntilTurnedAsync();
        await Engine.UntilTurnedAsync();
    }

    /// <summary>Checks that, after the greedy clients have left, others are served and the connections hold as much as before.</summary>
    public async Task AssertRecoversAsync()
    {
        _greedy.ForEach(client => client.Dispose());
        while (Engine.ConnectionCount > 3)
        {
            await Engine.UntilTurnedAsync();
        }

        AssertOthersAreServed();
        await UntilQuietAsync();
        Assert.Equal(_idleBytes, Engine.Memory.Bytes);
        Assert.Equal(0, Engine.Memory.ReplyBytes);
    }

    public async ValueTask DisposeAsync()
    {
        _greedy.ForEach(client => client.Dispose());
        _resp.Dispose();
        _memcached.Dispose();
        _binary.Dispose();
        await Server.DisposeAsync();
    }

    private async Task UntilQuietAsync()
    {
        for (int look = 0; look < LooksUntilQuiet; look++)
        {
            await PassAsync(TimeSpan.FromSeconds(3));
        }
    }
}
