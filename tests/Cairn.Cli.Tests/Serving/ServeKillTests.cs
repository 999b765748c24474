using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>Servers are killed under load. The acknowledged state of one server is still true of its successor.</summary>
public sealed class ServeKillTests : IDisposable
{
    private const int Writers = 4;
    private const int KeysOfWriter = 300;
    private const int MostBatches = 400;

    private static readonly int s_kills = Environment.GetEnvironmentVariable("CAIRN_TORTURE") == "long" ? 200 : 4;

    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("uring", 1)]
    [InlineData("epoll", 2)]
    [InlineData("sockets", 3)]
    public async Task Acknowledged_changes_are_there_after_a_kill(string io, int seed)
    {
        var random = new Random(seed);
        KeyWriter[] writers = [.. Enumerable.Range(0, Writers).Select(number => new KeyWriter(number, KeysOfWriter, random.Next()))];
        for (int kill = 0; kill < s_kills; kill++)
        {
            using ToolProcess server = Serve(io);
            int port = ServerLines.MemcachedPort(server);
            using (var reader = new TextClient(port))
            {
                foreach (KeyWriter writer in writers)
                {
                    writer.Check(reader);
                }
            }

            // The writer that finishes its batches first kills the server in the middle of the others' batches.
            int batches = random.Next(1, MostBatches);
            int killed = 0;
            TextClient[] clients = [.. writers.Select(_ => new TextClient(port))];
            await Task.WhenAll(writers.Zip(clients, (writer, client) => OwnThread.Run(() =>
            {
                for (int batch = 0; writer.TryWrite(client); batch++)
                {
                    if (batch >= batches && Interlocked.Exchange(ref killed, 1) == 0)
                    {
                        server.Signal(ToolProcess.Kill);
                    }
                }
            })));
            Array.ForEach(clients, client => client.Dispose());
            server.WaitForExit();
        }

        Assert.True(StoreMaintenance.Verify(_directory.FilePath).IsSound);
    }

    private ToolProcess Serve(string io) => ToolProcess.Start(
        "serve", "--store", _directory.FilePath, "--capacity", "64MiB", "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off", "--io", io);

    // Changes keys of its own over one connection. It knows the possible values of each key: the last acknowledged one, and those of all
    // changes that were sent since.
    private sealed class KeyWriter(int number, int keys, int seed)
    {
        private const int MostRequests = 16;
        private const int MostBytes = 4_000;
        private const string Stored = "STORED\r\n";

        private readonly Random _random = new(seed);
        private readonly List<string>[] _states = [.. Enumerable.Range(0, keys).Select(_ => new List<string> { "" })];
        private int _version;

        public bool TryWrite(TextClient client)
        {
            var sent = new List<(int Key, string Value)>();
            var requests = new StringBuilder();
            int depth = _random.Next(1, MostRequests);
            while (sent.Count < depth)
            {
                int key = _random.Next(keys);

                // A set before each delete makes the length of the pair's replies independent of the key's state.
                string value = string.Create(CultureInfo.InvariantCulture, $"{++_version}:") + new string((char)('a' + (_version % 26)), _random.Next(MostBytes));
                requests.Append(CultureInfo.InvariantCulture, $"set {NameOf(key)} 0 0 {value.Length}\r\n{value}\r\n");
                sent.Add((key, value));
                _states[key].Add(value);
                if (_version % 5 == 0)
                {
                    requests.Append(CultureInfo.InvariantCulture, $"delete {NameOf(key)} noreply\r\n");
                    _states[key].Add("");
                }
            }

            string replies;
            try
            {
                client.Send(requests.ToString());
                replies = client.Receive(depth * Stored.Length);
            }
            catch (SocketException)
            {
                replies = "";
            }

            int acknowledged = replies.Length / Stored.Length;
            Assert.Equal(string.Concat(Enumerable.Repeat(Stored, acknowledged)), replies[..(acknowledged * Stored.Length)]);
            foreach ((int key, string value) in sent.Take(acknowledged))
            {
                // The key cannot hold an older value. A later delete may still be in progress.
                _states[key].RemoveRange(0, _states[key].LastIndexOf(value));
            }

            return acknowledged == depth;
        }

        public void Check(TextClient client)
        {
            for (int key = 0; key < keys; key++)
            {
                client.Send($"get {NameOf(key)}\r\n");
                string value = ReadValue(client);
                Assert.True(_states[key].Contains(value), $"{NameOf(key)} holds '{value}', none of: {string.Join(", ", _states[key])}");
                _states[key] = [value];
            }
        }

        private static string ReadValue(TextClient client)
        {
            var header = new StringBuilder();
            while (header.Length == 0 || header[^1] != '\n')
            {
                header.Append(client.Receive(1));
            }

            string[] words = header.ToString().TrimEnd().Split(' ');
            if (words[0] == "END")
            {
                return "";
            }

            int length = int.Parse(words[^1], CultureInfo.InvariantCulture);
            string rest = client.Receive(length + "\r\nEND\r\n".Length);
            Assert.EndsWith("\r\nEND\r\n", rest, StringComparison.Ordinal);
            return rest[..length];
        }

        private string NameOf(int key) => string.Create(CultureInfo.InvariantCulture, $"writer:{number}:key:{key}");
    }
}
