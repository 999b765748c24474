using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Cairn.Server;

namespace Cairn.Dashboard.Tests.Serving;

/// <summary>A server with a dashboard. A clock of the test controls the figures of the last minutes.</summary>
internal sealed class ServedDashboard : IAsyncDisposable
{
    private readonly StoreDirectory _directory;
    private readonly DashboardHistory _history;
    private readonly ManualClock _clock;
    private Socket? _resp;

    private ServedDashboard(StoreDirectory directory, CairnServer server, DashboardHistory history, ManualClock clock)
    {
        _directory = directory;
        Server = server;
        _history = history;
        _clock = clock;
        Address = new Uri($"http://{AddressOf("http")}/");
        Http = new HttpClient { BaseAddress = Address };
    }

    public CairnServer Server { get; }

    /// <summary>Gets the messages that the server logged as errors.</summary>
    public ConcurrentQueue<string> Errors { get; private init; } = [];

    public Uri Address { get; }

    /// <summary>Gets a client without a browser and without cookies.</summary>
    public HttpClient Http { get; }

    /// <summary>Opens the store as another process does.</summary>
    public CairnStore OpenStore() => CairnStore.Open(new StoreOptions { Path = _directory.FilePath, OpenMode = StoreOpenMode.OpenExisting, FlushOnClose = false });

    public static async Task<ServedDashboard> StartAsync(Func<ServerOptions, StoreDirectory, ServerOptions>? configure = null)
    {
        var directory = new StoreDirectory();
        var options = new ServerOptions
        {
            StorePath = directory.FilePath,
            CapacityBytes = 16 << 20,
            Memcached = "127.0.0.1:0",
            Resp = "127.0.0.1:0",
            Http = "127.0.0.1:0",
            Workers = 1,
        };
        DashboardHistory? history = null;
        var log = new ErrorLog();
        CairnServer server = await CairnServer.StartAsync(
            configure?.Invoke(options, directory) ?? options, log, insight => new CairnDashboard(insight, history));
        var clock = new ManualClock(hasTimers: true);
        history = new DashboardHistory(server.Insight, clock);
        return new ServedDashboard(directory, server, history, clock) { Errors = log.Errors };
    }

    /// <summary>
    /// Starts a server with three users. "reader" may read keys that begin with book:, "writer" may also write them, and "admin" may read and
    /// write all keys. Each password is the user's name.
    /// </summary>
    public static Task<ServedDashboard> StartWithUsersAsync() => StartAsync((options, directory) =>
    {
        string path = directory["users"];
        File.WriteAllLines(path,
        [
            $"reader {HashOf("reader")} read-only book:",
            $"writer {HashOf("writer")} read-write book:",
            $"admin {HashOf("admin")} read-write",
        ]);
        return options with { RespUsersPath = path, Memcached = null };
    });

    /// <summary>Sends a RESP command and discards the reply.</summary>
    public void Send(params string[] words) => Ask(words);

    public void Send(params byte[][] words) => Ask(words);

    /// <summary>Sends a RESP command and returns its reply, which must be short.</summary>
    public string Ask(params string[] words) => Ask(words.Select(Encoding.UTF8.GetBytes).ToArray());

    private string Ask(byte[][] words)
    {
        _resp ??= Connect();
        var request = new MemoryStream();
        request.Write(Encoding.ASCII.GetBytes($"*{words.Length}\r\n"));
        foreach (byte[] word in words)
        {
            request.Write(Encoding.ASCII.GetBytes($"${word.Length}\r\n"));
            request.Write(word);
            request.Write("\r\n"u8);
        }

        _resp.Send(request.ToArray());
        byte[] reply = new byte[1 << 20];
        return Encoding.UTF8.GetString(reply, 0, _resp.Receive(reply));
    }

    /// <summary>Sets these keys in batches of requests, and waits for all replies.</summary>
    public void SetAll(IEnumerable<string> keys)
    {
        const int Together = 50; // The server samples every key of a batch of this size.
        var replies = new byte[4096];
        foreach (string[] batch in keys.Chunk(Together))
        {
            var request = new StringBuilder();
            foreach (string key in batch)
            {
                request.Append(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n${key.Length}\r\n{key}\r\n$1\r\nx\r\n");
            }

            _resp ??= Connect();
            _resp.Send(Encoding.ASCII.GetBytes(request.ToString()));
            for (int left = batch.Length * "+OK\r\n".Length; left > 0;)
            {
                left -= _resp.Receive(replies);
            }
        }
    }

    /// <summary>Creates five minutes of traffic by moving the clock.</summary>
    public void MakeBusy()
    {
        const int Seconds = 300;
        for (int key = 0; key < 400; key++)
        {
            Send("SET", $"book:{key}", $$"""{"id":{{key}},"title":"Solaris","tags":["classic","sf"],"text":"{{new string('x', key * 7 % 3000)}}"}""", "EX", $"{60 * (1 + (key * key))}");
        }

        for (int second = 0; second < Seconds; second++)
        {
            int requests = 12 + (int)(8 * Math.Sin(second / 9.0));
            for (int i = 0; i < requests; i++)
            {
                Send("GET", $"book:{second * i % 440}");
            }

            Send("SET", $"author:{second}", $"Author {second}");
            _clock.Advance(TimeSpan.FromSeconds(1));
            _history.Samples.Take();
        }

        Send("HSET", "session:81f2", "user", "42", "cart", "[1,2,3]");
    }

    /// <summary>Records requests, as <c>cairn trace record</c> does, until the result is disposed.</summary>
    public IDisposable Record()
    {
        Socket socket = Connect("memcached");
        socket.Send("watch fetchers\r\n"u8);
        Assert.Equal(4, socket.Receive(new byte[4])); // OK
        return socket;
    }

    /// <summary>Moves the clock without traffic.</summary>
    public void Wait(TimeSpan time)
    {
        // In seconds, because all timers of one step read the time at its end.
        for (int second = 0; second < time.TotalSeconds; second++)
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
        }
    }

    /// <summary>Sends a request without a browser.</summary>
    public async Task<(HttpStatusCode Status, JsonElement Body)> AskAsync(
        HttpMethod method, string path, object? body = null, Action<HttpRequestHeaders>? headers = null)
    {
        using var request = new HttpRequestMessage(method, new Uri(path, UriKind.Relative));
        if (body is not null)
        {
            request.Content = new StringContent(JsonSerializer.Serialize(body), Encoding.UTF8, "application/json");
        }

        headers?.Invoke(request.Headers);
        using HttpResponseMessage response = await Http.SendAsync(request);
        string text = await response.Content.ReadAsStringAsync();
        return (response.StatusCode, text.StartsWith('{') ? JsonDocument.Parse(text).RootElement : default);
    }

    public static string Id(string key) => System.Buffers.Text.Base64Url.EncodeToString(Encoding.UTF8.GetBytes(key));

    public static AuthenticationHeaderValue Basic(string user) => new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{user}")));

    public async ValueTask DisposeAsync()
    {
        _resp?.Dispose();
        Http.Dispose();
        _history.Dispose();
        await Server.DisposeAsync();
        _directory.Dispose();
    }

    private static string HashOf(string password) =>
        "sha256:" + Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(Encoding.UTF8.GetBytes(password)));

    private Socket Connect(string listener = "resp")
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 60_000 };
        socket.Connect(IPEndPoint.Parse(AddressOf(listener)));
        return socket;
    }

    private string AddressOf(string listener) => Server.Addresses.First(address => address.Key == listener).Value;
}
