using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Cairn.Cli.Tests.Servers;
using Cairn.Platform;
using Cairn.Server;

namespace Cairn.Cli.Tests;

/// <summary>Loads on real servers: Cairn in this process, and other products.</summary>
public sealed class BenchTests : ToolTest
{
    // Few enough requests to be fast, and enough to split replies at many positions.
    private static readonly string[] Small =
        ["--load", "--verify", "--requests", "3000", "--connections", "5", "--pipeline", "7", "--keys", "300", "--threads", "2", "--json"];

    [Theory]
    [InlineData("memcached", 1)]
    [InlineData("memcached", 12)]
    [InlineData("meta", 1)]
    [InlineData("meta", 12)]
    [InlineData("resp", 1)]
    [InlineData("resp", 12)]
    public void Every_request_is_answered_with_the_value_of_its_key_and_nothing_stays(string protocol, int keysPerGet)
    {
        using var served = new ServedStore();
        string address = protocol == "resp" ? served.Resp : served.Memcached;

        ToolRun run = Run(
            ["bench", address, "--protocol", protocol, "--multiget", $"{keysPerGet}", "--value-size", "0-5000", "--distribution", "zipf:0.99", .. Small]);

        Assert.Equal((0, ""), (run.Code, run.Error));
        AssertFlawless(run.Json, requests: 3000);
        Assert.Equal(protocol, run.Json.GetProperty("protocol").GetString());
        using CairnStore store = served.Open();
        Assert.Equal(0, store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Thread_that_the_system_refuses_is_an_error_that_names_the_limit()
    {
        using var served = new ServedStore();
        BackgroundThread.IsRefused = true;

        ToolRun run = Run(["bench", served.Memcached, .. Small]);

        BackgroundThread.IsRefused = false;
        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains("The system refuses a thread", run.Error, StringComparison.Ordinal);
        Assert.Contains("ulimit -u", run.Error, StringComparison.Ordinal);
    }

    [RequiresToolFact("memcached")]
    public void Memcached_is_recognised_and_loaded()
    {
        using PeerProcess peer = PeerProcess.Memcached();

        JsonElement json = Run(["bench", peer.Address, "--multiget", "3", .. Small]).Json;

        AssertFlawless(json, requests: 3000);
        Assert.StartsWith("memcached 1.", json.GetProperty("name").GetString(), StringComparison.Ordinal);
    }

    [RequiresToolFact("redis-server")]
    public void Redis_is_recognised_and_loaded()
    {
        using PeerProcess peer = PeerProcess.Redis();

        JsonElement json = Run(["bench", peer.Address, "--multiget", "3", .. Small]).Json;

        AssertFlawless(json, requests: 3000);
        Assert.StartsWith("redis ", json.GetProperty("name").GetString(), StringComparison.Ordinal);
    }

    [RequiresToolFact("redis-server")]
    public void Password_is_asked_for_and_checked()
    {
        using PeerProcess peer = PeerProcess.Redis("--requirepass", "open sesame");
        TestConsole console = NewConsole();
        console.Environment["CAIRN_PASSWORD"] = "open sesame";

        ToolRun without = Run(["bench", peer.Address, .. Small]);
        ToolRun wrong = Run(["bench", peer.Address, "--password", "wrong", .. Small]);
        ToolRun right = Run(console, ["bench", peer.Address, .. Small]);

        Assert.Equal((ExitCode.Server, ExitCode.Server, ExitCode.Done), (without.Code, wrong.Code, right.Code));
        Assert.Contains("requires a login", without.Error, StringComparison.Ordinal);
        Assert.Contains("does not accept this user and password", wrong.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void User_of_memcached_s_protocol_is_asked_for_and_checked()
    {
        string users = PathOf("users");
        File.WriteAllText(users, "ann:secret\n");
        using var served = new ServedStore(options => options with { MemcachedUsersPath = users });

        ToolRun without = Run(["bench", served.Memcached, .. Small]);
        ToolRun wrong = Run(["bench", served.Memcached, "--user", "ann", "--password", "wrong", .. Small]);
        ToolRun right = Run(["bench", served.Memcached, "--user", "ann", "--password", "secret", .. Small]);

        Assert.Equal((ExitCode.Server, ExitCode.Server, ExitCode.Done), (without.Code, wrong.Code, right.Code));
        Assert.Contains("requires a login", without.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Tls_is_spoken_with_a_server_whose_certificate_is_trusted(bool isResp)
    {
        string certificate = WriteCertificate("localhost");
        using var served = new ServedStore(options => options with { Tls = new TlsOptions { CertificatePath = certificate } });
        string address = (isResp ? served.Resp : served.Memcached).Replace("127.0.0.1", "localhost", StringComparison.Ordinal);

        ToolRun trusted = Run(["bench", address, "--tls-authorities", certificate, "--value-size", "1-40000", .. Small]);
        ToolRun stranger = Run(["bench", address, "--tls", .. Small]);
        ToolRun anybody = Run(["bench", address, "--tls-any-server", .. Small]);

        Assert.Equal((0, ""), (trusted.Code, trusted.Error));
        AssertFlawless(trusted.Json, requests: 3000);
        Assert.Equal(ExitCode.Server, stranger.Code);
        AssertFlawless(anybody.Json, requests: 3000);
    }

    [Fact]
    public void Values_longer_than_any_buffer_go_both_ways()
    {
        using var served = new ServedStore();

        ToolRun run = Run(
            "bench", served.Resp, "--load", "--verify", "--requests", "100", "--connections", "2", "--pipeline", "10", "--keys", "4",
            "--value-size", "900KiB", "--set-percent", "50", "--json");

        Assert.Equal((0, ""), (run.Code, run.Error));
        AssertFlawless(run.Json, requests: 100);
    }

    [Fact]
    public void Given_rate_is_kept_and_every_request_sent()
    {
        using var served = new ServedStore();

        JsonElement json = Run(
            "bench", served.Memcached, "--load", "--rate", "20000", "--requests", "4000", "--connections", "4", "--threads", "2", "--json").Json;

        AssertFlawless(json, requests: 4000, isVerified: false);
        Assert.InRange(json.GetProperty("seconds").GetDouble(), 0.19, double.MaxValue);
    }

    [Fact]
    public void Keys_that_were_kept_are_found_by_the_next_run()
    {
        using var served = new ServedStore();

        ToolRun first = Run(["bench", served.Memcached, "--keep", .. Small]);
        ToolRun second = Run("bench", served.Resp, "--verify", "--set-percent", "0", "--requests", "100", "--keys", "300", "--json");

        Assert.Equal(0, first.Code);
        AssertFlawless(second.Json, requests: 100);
        using CairnStore store = served.Open();
        Assert.Equal(300, store.GetStatistics().Totals.Entries);
    }

    [Theory]
    [InlineData("cairn-bench:0000000001-changed-and-of-the-length-of-a-value-that-belongs-here-so-that-only-the-content-tells-it")]
    [InlineData("short")]
    public void Value_that_is_not_its_key_s_is_found_out(string value)
    {
        using var served = new ServedStore();
        Assert.Equal(0, Run(["bench", served.Memcached, "--keep", "--value-size", $"{value.Length}", .. Small]).Code);
        using (CairnStore store = served.Open())
        {
            store.DefaultCollection.Set("cairn-bench:0000000007", System.Text.Encoding.ASCII.GetBytes(value == "short" ? "shor" : value));
        }

        ToolRun run = Run(
            "bench", served.Memcached, "--verify", "--set-percent", "0", "--keys", "300", "--requests", "3000", "--value-size", $"{value.Length}", "--json");

        Assert.Equal(ExitCode.No, run.Code);
        Assert.InRange(run.Json.GetProperty("wrongValues").GetInt64(), 1, 100);
    }

    [Fact]
    public void Errors_of_memcached_s_protocol_are_counted_by_their_text()
    {
        using var served = new ServedStore(options => options with { MaxValueBytes = 1000 });

        AssertErrors(served.Memcached, "SERVER_ERROR object too large for cache");
    }

    [RequiresToolFact("redis-server")]
    public void Errors_of_resp_are_counted_by_their_text()
    {
        using PeerProcess peer = PeerProcess.Redis("--maxmemory", "1", "--maxmemory-policy", "noeviction");

        AssertErrors(peer.Address, "OOM command not allowed");
    }

    [Fact]
    public void Lost_connection_is_reported_and_replaced()
    {
        int answers = 0;
        using var server = new ScriptedServer(line =>
            line == "version" ? "VERSION 1\r\n" : Interlocked.Increment(ref answers) % 10 == 0 ? null : "END\r\n");

        ToolRun run = Run("bench", server.Address, "--set-percent", "0", "--requests", "100", "--connections", "2", "--json");

        Assert.Equal(ExitCode.No, run.Code);
        Assert.Contains("lost: the server closed the connection", run.Error, StringComparison.Ordinal);
        long lost = run.Json.GetProperty("lostConnections").GetInt64();
        Assert.Equal(10, lost);
        Assert.Equal((90, lost), (run.Json.GetProperty("requests").GetInt64(), run.Json.GetProperty("lostRequests").GetInt64()));
    }

    [Fact]
    public void Server_that_says_something_else_is_not_believed_any_more()
    {
        int answers = 0;
        using var server = new ScriptedServer(line =>
            line == "version" ? "VERSION 1\r\n" : Interlocked.Increment(ref answers) == 5 ? "220 smtp.example\u0007 ready\r\n" : "END\r\n");

        ToolRun run = Run("bench", server.Address, "--set-percent", "0", "--requests", "20", "--connections", "1", "--json");

        Assert.Equal(ExitCode.No, run.Code);
        Assert.Contains(@"not a reply: '220 smtp.example\\u{7} ready'", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Interruption_ends_it_with_the_figures_so_far_and_nothing_stays()
    {
        using var served = new ServedStore();
        TestConsole console = NewConsole();
        using CairnStore store = served.Open();
        Task interruption = Task.Run(() =>
        {
            while (store.GetStatistics().Totals.Hits == 0)
            {
                Thread.Yield();
            }

            console.Interrupt();
        });

        ToolRun run = Run(
            console, "bench", served.Memcached, "--load", "--keys", "100", "--warmup", "0s", "--duration", "5m", "--json");

        Assert.True(interruption.IsCompletedSuccessfully);
        Assert.Equal(ExitCode.Interrupted, run.Code);
        Assert.False(run.Json.GetProperty("complete").GetBoolean());
        Assert.NotEqual(0, run.Json.GetProperty("operations").GetInt64());
        Assert.Equal(0, store.GetStatistics().Totals.Entries);
    }

    [RequiresToolFact("memcached")]
    public async Task Server_that_goes_ends_it_with_the_figures_so_far()
    {
        using PeerProcess peer = PeerProcess.Memcached();
        TestConsole console = NewConsole();
        Task<ToolRun> running = Task.Run(
            () => Run(console, "bench", peer.Address, "--load", "--keys", "100", "--warmup", "0s", "--duration", "5m", "--json"));

        await Eventually.TrueAsync(() => peer.Gets > 0, "that the load has begun");
        peer.Kill();
        ToolRun run = await running.WaitAsync(TimeSpan.FromMinutes(1));

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.False(run.Json.GetProperty("complete").GetBoolean());
        Assert.NotEqual(0, run.Json.GetProperty("operations").GetInt64());
        Assert.Contains("were not removed: ", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Text_has_rates_latencies_and_a_histogram()
    {
        using var served = new ServedStore();

        ToolRun run = Run("bench", served.Memcached, "--requests", "500", "--set-percent", "30");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Contains("500 operations in", run.Output, StringComparison.Ordinal);
        Assert.Matches(@"\n +per second +p50 +p90 +p99 +p99\.9 +max\ngets +[\d,]+ ", run.Output);
        Assert.Contains("100.000 %", run.Output, StringComparison.Ordinal);
        Assert.Contains('█', run.Output);
    }

    [Fact]
    public void Gets_of_keys_that_were_never_set_are_misses_and_the_text_says_why()
    {
        using var served = new ServedStore();

        ToolRun run = Run("bench", served.Resp, "--requests", "50", "--set-percent", "0", "--multiget", "4");

        Assert.Contains("0.0 %: nothing was there; --load sets all keys first", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_on_another_machine_is_left_alone_unless_that_is_meant()
    {
        ToolRun run = Run("bench", "192.0.2.1:11211");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("192.0.2.1:11211 is not on this machine", run.Error, StringComparison.Ordinal);
        Assert.Contains("--allow-remote", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Server_that_is_not_there_is_an_error()
    {
        ToolRun run = Run("bench", $"unix:{PathOf("absent.sock")}");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Contains("cannot be reached", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("localhost", "is no address")]
    [InlineData("::1:11211", "is no address")]
    [InlineData("--protocol", "http")]
    [InlineData("--value-size", "20-10")]
    [InlineData("--distribution", "zipf:0")]
    [InlineData("--requests", "10", "--duration", "1s")]
    [InlineData("--user", "ann")]
    public void Mistake_is_a_usage_error(params string[] args)
    {
        Assert.Equal(ExitCode.Usage, Run(["bench", .. args]).Code);
    }

    private void AssertErrors(string address, string text)
    {
        ToolRun run = Run("bench", address, "--set-percent", "100", "--value-size", "2000", "--requests", "200", "--connections", "4", "--json");

        Assert.Equal(ExitCode.No, run.Code);
        JsonProperty error = Assert.Single(run.Json.GetProperty("errors").EnumerateObject());
        Assert.StartsWith(text, error.Name, StringComparison.Ordinal);
        Assert.Equal((200, 0), (error.Value.GetInt64(), run.Json.GetProperty("sets").GetInt64()));
    }

    private static void AssertFlawless(JsonElement json, long requests, bool isVerified = true)
    {
        Assert.Equal(requests, json.GetProperty("requests").GetInt64());
        Assert.Empty(json.GetProperty("errors").EnumerateObject());
        Assert.Equal(json.GetProperty("gets").GetInt64(), json.GetProperty("hits").GetInt64());
        Assert.Equal(0, json.GetProperty("lostConnections").GetInt64());
        Assert.Equal(requests, json.GetProperty("latency").GetProperty("all").GetProperty("count").GetInt64());
        Assert.True(json.GetProperty("complete").GetBoolean());
        if (isVerified)
        {
            Assert.Equal(0, json.GetProperty("wrongValues").GetInt64());
        }
    }

    // A self-signed certificate.
    private string WriteCertificate(string host)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={host}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        string path = PathOf("server.pem");
        File.WriteAllText(path, certificate.ExportCertificatePem() + "\n" + key.ExportPkcs8PrivateKeyPem() + "\n");
        return path;
    }
}
