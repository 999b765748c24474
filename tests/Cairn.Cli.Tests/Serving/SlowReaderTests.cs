namespace Cairn.Cli.Tests.Serving;

/// <summary>Clients that read slowly or not at all. The server serves the others and stops when requested.</summary>
public sealed class SlowReaderTests : IDisposable
{
    private const int BigBytes = 4 << 20;
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly StoreDirectory _directory = new();
    private readonly List<TextClient> _clients = [];

    private string SocketPath => _directory["both.sock"];

    public void Dispose()
    {
        _clients.ForEach(client => client.Dispose());
        _directory.Dispose();
    }

    [Fact]
    public void Clients_that_never_read_a_long_value_stop_neither_the_others_nor_the_end_of_the_server()
    {
        using ToolProcess server = Serve("-t", "1");
        TextClient other = Connect();
        Set(other, "big", BigBytes);
        Set(other, "small", 5);

        List<TextClient> silent = AskFor(Enumerable.Repeat("big", 65));

        AssertGets(other, "small", 5);
        silent.ForEach(client => client.Dispose());
        AssertGets(other, "small", 5);
        AssertGets(other, "big", BigBytes);
        AskFor(Enumerable.Repeat("big", 65));
        AssertGets(other, "small", 5);
        AssertStops(server);
    }

    [Fact]
    public void Meta_get_of_a_long_value_is_a_hit_while_others_hold_it()
    {
        using ToolProcess server = Serve("-t", "1");
        TextClient other = Connect();
        Set(other, "big", BigBytes);
        AskFor(Enumerable.Repeat("big", 64)).ForEach(client => client.ReadLine());

        other.Send("mg big\r\nmg big v\r\nmg big v q k\r\n");

        Assert.Equal("HD", other.ReadLine());
        Assert.Equal($"VA {BigBytes}", other.ReadLine());
        Assert.Equal(BigBytes + 2, other.Skip(BigBytes + 2));
        Assert.Equal($"VA {BigBytes} kbig", other.ReadLine());
        Assert.Equal(BigBytes + 2, other.Skip(BigBytes + 2));
        AssertStops(server);
    }

    [Fact]
    public void Hash_is_read_while_others_hold_long_values()
    {
        using ToolProcess server = Serve("-t", "1");
        Set(Connect(), "big", BigBytes);
        TextClient resp = Connect();
        resp.Ask("*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n$1\r\n1\r\n", ":1\r\n");
        AskFor(Enumerable.Repeat("big", 64)).ForEach(client => client.ReadLine());

        resp.Ask("*3\r\n$4\r\nHGET\r\n$1\r\nh\r\n$1\r\nf\r\n", "$1\r\n1\r\n");

        AssertStops(server);
    }

    [Fact]
    public async Task Slow_readers_of_a_long_value_all_finish_and_others_are_answered_meanwhile()
    {
        const int Readers = 150;
        const int ValueBytes = 8 << 20;
        using ToolProcess server = Serve(out int port, "-t", "2");
        Set(Connect(), "big", ValueBytes);
        Set(Connect(), "small", 5);
        List<TextClient> readers = AskFor(Enumerable.Repeat("big", Readers), port);

        // Every reader takes a piece in its turn: each is slow, and all are in the middle of their value.
        Task reading = OwnThread.Run(() =>
        {
            readers.ForEach(reader => Assert.Equal($"VALUE big 0 {ValueBytes}", reader.ReadLine()));
            for (int read = 0; read < ValueBytes; read += 64 << 10)
            {
                readers.ForEach(reader => Assert.Equal(64 << 10, reader.Skip(64 << 10)));
            }

            readers.ForEach(reader => Assert.Equal("\r\nEND\r\n", reader.Receive(7)));
        });
        for (int i = 0; i < 12; i++)
        {
            AssertGets(Connect(), "small", 5);
        }

        await reading;
        AskFor(Enumerable.Repeat("big", Readers), port);
        AssertGets(Connect(), "small", 5);
        AssertStops(server);
    }

    // Each value has segments of its own, so that each pin needs a cell, and no copy fits into a connection's output limit.
    [Theory]
    [InlineData("1")]
    [InlineData("3")]
    public void Client_that_finds_no_cell_waits_alone_and_is_served_when_another_leaves(string workers)
    {
        const int Values = 60;
        const int ValueBytes = 600_000;
        using ToolProcess server = Serve("-t", workers, "--max-waiting", "256KiB");
        TextClient other = Connect();
        for (int i = 0; i < Values; i++)
        {
            Set(other, $"big:{i}", ValueBytes);
        }

        Set(other, "small", 5);
        List<TextClient> silent = AskFor(Enumerable.Range(0, Values).Select(i => $"big:{i}"));
        AssertGets(other, "small", 5);
        TextClient last = Connect();
        last.Send("get small\r\nmg big:7 v\r\nget big:8 small\r\n");
        Assert.Equal("VALUE small 0 5", last.ReadLine());
        Assert.Equal("aaaaa", last.ReadLine());
        Assert.Equal("END", last.ReadLine());

        for (int i = 0; i < Values; i++)
        {
            Assert.Equal($"VALUE big:{i} 0 {ValueBytes}", silent[i].ReadLine());
            AssertGets(other, "small", 5);
            silent[i].Dispose();
        }

        Assert.Equal($"VA {ValueBytes}", last.ReadLine());
        Assert.Equal(ValueBytes + 2, last.Skip(ValueBytes + 2));
        Assert.Equal($"VALUE big:8 0 {ValueBytes}", last.ReadLine());
        Assert.Equal(ValueBytes + 2, last.Skip(ValueBytes + 2));
        Assert.Equal("VALUE small 0 5", last.ReadLine());
        AskFor(Enumerable.Range(0, Values).Select(i => $"big:{i}"));
        AssertGets(other, "small", 5);
        AssertStops(server);
    }

    [Fact]
    public void Clients_that_never_read_and_clients_that_wait_for_them_are_forgotten_when_they_leave()
    {
        using ToolProcess server = Serve("-t", "1", "--max-waiting", "256KiB");
        TextClient other = Connect();
        for (int i = 0; i < 60; i++)
        {
            Set(other, $"big:{i}", 600_000);
        }

        for (int round = 0; round < 10; round++)
        {
            List<TextClient> silent = AskFor(Enumerable.Range(0, 60).Select(i => $"big:{i}"));
            silent[0].ReadLine();
            silent.ForEach(client => client.Dispose());
        }

        AssertGets(other, "big:59", 600_000);
        AssertStops(server);
    }

    private ToolProcess Serve(params string[] arguments) => Serve(out _, arguments);

    private ToolProcess Serve(out int port, params string[] arguments)
    {
        ToolProcess server = ToolProcess.Start(
            ["serve", "--store", _directory.FilePath, "--capacity", "128MiB", "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off",
            "--unix", SocketPath, "-I", "9m", "--stop-timeout", "1s", .. arguments]);
        port = ServerLines.MemcachedPort(server);
        return server;
    }

    private TextClient Connect(int? port = null)
    {
        var client = port is { } tcp ? new TextClient(tcp, receiveBufferBytes: 64 << 10) : new TextClient(SocketPath);
        _clients.Add(client);
        return client;
    }

    // Returns clients that request one value each and read nothing.
    private List<TextClient> AskFor(IEnumerable<string> keys, int? port = null)
    {
        var clients = new List<TextClient>();
        foreach (string key in keys)
        {
            TextClient client = Connect(port);
            client.Send($"get {key}\r\n");
            clients.Add(client);
        }

        return clients;
    }

    private static void Set(TextClient client, string key, int bytes) =>
        client.Ask($"set {key} 0 0 {bytes}\r\n{new string('a', bytes)}\r\n", "STORED\r\n");

    private static void AssertGets(TextClient client, string key, int bytes)
    {
        client.Send($"get {key}\r\n");
        Assert.Equal($"VALUE {key} 0 {bytes}", client.ReadLine());
        Assert.Equal(bytes, client.Skip(bytes));
        Assert.Equal("\r\nEND\r\n", client.Receive(7));
    }

    private static void AssertStops(ToolProcess server)
    {
        server.Signal(ToolProcess.Terminate);
        Assert.True(server.ExitsWithin(Patience), "The server goes on after SIGTERM.");
        Assert.Equal(ExitCode.Done, server.WaitForExit().Code);
    }
}
