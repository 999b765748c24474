using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Cli.Tests.Serving;

/// <summary>
/// Three servers behind twemproxy with the configuration of deploy/nutcracker, of which one is killed and comes back: what docs/how-to/several-servers.md
/// says that clients see.
/// </summary>
public sealed class SeveralServersTests : IDisposable
{
    private const int Servers = 3;
    private const int Keys = 300;

    private readonly StoreDirectory[] _directories = [.. Enumerable.Range(0, Servers).Select(_ => new StoreDirectory())];
    private readonly int[] _memcachedPorts = [.. Enumerable.Range(0, Servers).Select(_ => FreePorts.Take())];
    private readonly int[] _respPorts = [.. Enumerable.Range(0, Servers).Select(_ => FreePorts.Take())];
    private readonly ToolProcess[] _servers;

    public SeveralServersTests() => _servers = [.. Enumerable.Range(0, Servers).Select(Serve)];

    public void Dispose()
    {
        Array.ForEach(_servers, server => server.Dispose());
        Array.ForEach(_directories, directory => directory.Dispose());
    }

    [RequiresToolTheory("nutcracker")]
    [InlineData("memcached")]
    [InlineData("redis")]
    public void Keys_of_a_killed_server_are_misses_until_it_is_back_with_what_it_had(string protocol)
    {
        using Proxy proxy = Proxy.Start(_memcachedPorts, _respPorts);
        IKeys keys = protocol == "redis" ? new RespKeys(proxy.RespPort) : new MemcachedKeys(proxy.MemcachedPort);
        for (int key = 0; key < Keys; key++)
        {
            Assert.True(keys.TrySet(key, "before"));
        }

        int[] lost = [.. Enumerable.Range(0, Keys).Where(key => IsOn(1, key))];
        _servers[1].Signal(ToolProcess.Kill);
        _servers[1].WaitForExit();

        // The first request to the dead server fails and ejects it. From then on the proxy asks the other servers for its keys.
        Eventually.True(() => lost.All(key => keys.Read(key) is ""));
        Assert.All(Enumerable.Range(0, Keys).Except(lost), key => Assert.Equal("before", keys.Read(key)));
        Assert.InRange(lost.Length, Keys / 10, Keys * 6 / 10);

        // The proxy tries the dead server again from time to time, and each such request fails.
        Eventually.True(() => keys.TrySet(lost[0], "meanwhile"));
        Eventually.True(() => keys.Read(lost[0]) == "meanwhile");

        _servers[1] = Serve(1);

        // The server is warm. It also has the value that was replaced meanwhile on another server.
        Eventually.True(() => lost.All(key => keys.Read(key) == "before"));
        Assert.All(Enumerable.Range(0, Keys), key => Assert.Equal("before", keys.Read(key)));
    }

    // Whether the key is on this server itself.
    private bool IsOn(int server, int key)
    {
        using var client = new TextClient(_memcachedPorts[server]);
        client.Send($"mg key:{key}\r\n");
        return client.ReadLine() == "HD";
    }

    private ToolProcess Serve(int number)
    {
        ToolProcess server = ToolProcess.Start(
            "serve", "--store", _directories[number].FilePath, "--capacity", "8MiB", "--http", "off",
            "--memcached", Address(_memcachedPorts[number]), "--resp", Address(_respPorts[number]));
        ServerLines.MemcachedPort(server);
        return server;
    }

    private static string Address(int port) => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}");

    /// <summary>The keys of a client of the proxy. A request to a dead server can fail.</summary>
    private interface IKeys
    {
        bool TrySet(int key, string value);

        /// <summary>Returns the value, an empty text for a miss, or null for an error.</summary>
        string? Read(int key);
    }

    private sealed class MemcachedKeys(int port) : IKeys
    {
        public bool TrySet(int key, string value)
        {
            using var client = new TextClient(port);
            client.Send($"set key:{key} 0 0 {value.Length}\r\n{value}\r\n");
            return client.ReadLine() == "STORED";
        }

        public string? Read(int key)
        {
            using var client = new TextClient(port);
            client.Send($"get key:{key}\r\n");
            string line = client.ReadLine();
            return line == "END" ? "" : line.StartsWith("VALUE ", StringComparison.Ordinal) ? client.ReadLine() : null;
        }
    }

    private sealed class RespKeys(int port) : IKeys
    {
        public bool TrySet(int key, string value)
        {
            using var client = new TextClient(port);
            client.Send(Request("SET", $"key:{key}", value));
            return client.ReadLine() == "+OK";
        }

        public string? Read(int key)
        {
            using var client = new TextClient(port);
            client.Send(Request("GET", $"key:{key}"));
            string line = client.ReadLine();
            return line == "$-1" ? "" : line.StartsWith('$') ? client.ReadLine() : null;
        }

        private static string Request(params string[] words) => $"*{words.Length}\r\n" + string.Concat(words.Select(word => $"${word.Length}\r\n{word}\r\n"));
    }

    /// <summary>twemproxy, with the addresses of the servers in place of those in the configuration of the repository.</summary>
    private sealed class Proxy : IDisposable
    {
        private readonly TestDirectory _directory;
        private readonly ToolProcess _process;

        private Proxy(TestDirectory directory, ToolProcess process, int memcachedPort, int respPort)
        {
            _directory = directory;
            _process = process;
            MemcachedPort = memcachedPort;
            RespPort = respPort;
        }

        public int MemcachedPort { get; }

        public int RespPort { get; }

        public static Proxy Start(int[] memcachedPorts, int[] respPorts)
        {
            (int memcached, int resp) = (FreePorts.Take(), FreePorts.Take());
            string configuration = File.ReadAllText(RepositoryFile.At("deploy", "nutcracker", "nutcracker.yml"))
                .Replace("127.0.0.1:21211", Address(memcached), StringComparison.Ordinal)
                .Replace("127.0.0.1:26379", Address(resp), StringComparison.Ordinal)
                .Replace("server_retry_timeout: 2000", "server_retry_timeout: 200", StringComparison.Ordinal)
                .Replace("  timeout: 1000", "  timeout: 30000", StringComparison.Ordinal); // On a busy machine, the first answer of a server may take longer than a second.
            for (int i = 0; i < Servers; i++)
            {
                configuration = configuration
                    .Replace($"10.0.0.{5 + i}:11211", Address(memcachedPorts[i]), StringComparison.Ordinal)
                    .Replace($"10.0.0.{5 + i}:6379", Address(respPorts[i]), StringComparison.Ordinal);
            }

            var directory = new TestDirectory();
            string file = Path.Combine(directory.Path, "nutcracker.yml");
            File.WriteAllText(file, configuration);
            ToolProcess process = ToolProcess.StartProgram(
                "nutcracker", "--conf-file", file, "--output", Path.Combine(directory.Path, "log"), "--pid-file", Path.Combine(directory.Path, "pid"),
                "--stats-addr", "127.0.0.1", "--stats-port", FreePorts.Take().ToString(CultureInfo.InvariantCulture));
            Eventually.True(() => Listens(memcached) && Listens(resp));
            return new Proxy(directory, process, memcached, resp);
        }

        public void Dispose()
        {
            _process.Dispose();
            _directory.Dispose();
        }

        private static bool Listens(int port)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.Connect(IPAddress.Loopback, port);
                return true;
            }
            catch (SocketException)
            {
                return false;
            }
        }
    }
}
