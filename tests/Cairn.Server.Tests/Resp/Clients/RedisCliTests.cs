using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp.Clients;

/// <summary>redis-cli and redis-benchmark print the same with redis-server and with Cairn.</summary>
public partial class RedisCliTests(RespServers servers) : IClassFixture<RespServers>
{
    private const string Commands =
        """
        PING
        ECHO "two words"
        SET book Dune EX 100
        GET book
        GET nothing
        PERSIST book
        SET bytes "\x00\xff\r\n"
        GET bytes
        MSET a 1 b 2
        MGET a nothing b
        INCRBYFLOAT a 0.5
        INCR book
        HSET h f v g 1
        HGETALL h
        HRANDOMFIELD
        HINCRBYFLOAT h g 1.5
        CONFIG GET databases
        OBJECT ENCODING b
        NONSENSE x
        GET
        MULTI
        INCR b
        HGETALL h
        EXEC
        SCAN 0 MATCH nothing COUNT 1000000
        HSCAN h 0
        CLIENT GETNAME
        COMMAND GETKEYS MSET a 1 b 2
        PUBLISH news x
        TYPE h
        DEL a h nothing
        SELECT 1
        QUIT
        """;

    [RequiresToolTheory("redis-server", "redis-cli")]
    [InlineData("-2", "--no-raw")]
    [InlineData("-3", "--no-raw")]
    [InlineData("-2", "--raw")]
    [InlineData("-3", "--json")]
    public async Task Commands_are_answered_as_by_redis(params string[] options) => await AssertAlikeAsync(
        async server =>
        {
            await Cli(server, "FLUSHALL").RunAsync();
            return await (Cli(server, options) with { Input = Encoding.ASCII.GetBytes(Commands) }).RunAsync();
        });

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Pipe_sends_all_and_counts_replies_and_errors()
    {
        const int Keys = 20_000;
        var requests = new StringBuilder("SET inline \"two words\"\r\n");
        for (int i = 0; i < Keys; i++)
        {
            string key = $"pipe:{i}";
            requests.Append(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n${key.Length}\r\n{key}\r\n$5\r\nvalue\r\n");
        }

        byte[] valid = Encoding.ASCII.GetBytes(requests.ToString());
        byte[] broken = Encoding.ASCII.GetBytes("SET text x\r\nINCR text\r\nNONSENSE\r\nGET text\r\n");

        await AssertAlikeAsync(async server =>
        {
            await Cli(server, "FLUSHALL").RunAsync();
            (int exitCode, string output, string errors) = await (Cli(server, "--pipe") with { Input = broken }).RunToAnyEndAsync();
            return $"""
                {await (Cli(server, "--pipe") with { Input = valid }).RunAsync()}
                {await Cli(server, "DBSIZE").RunAsync()}
                {exitCode}
                {output}
                {errors}
                """;
        });
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Keys_are_scanned_and_the_biggest_found() => await AssertAlikeAsync(async server =>
    {
        await Cli(server, "FLUSHALL").RunAsync();
        string many = string.Concat(Enumerable.Range(0, 1000).Select(i => $"SET key:{i} {i}\r\n"));
        await (Cli(server, "--pipe") with
        {
            Input = Encoding.ASCII.GetBytes(many + $"SET large {new string('x', 1000)}\r\nHSET hash a {new string('x', 2000)} b 1\r\n"),
        }).RunAsync();

        // The intermediate biggest keys depend on the order of the scan; the bytes in memory depend on the server.
        string bigKeys = Progress().Replace(await Cli(server, "--bigkeys").RunAsync(), "");
        string memKeys = Bytes().Replace(Progress().Replace(await Cli(server, "--memkeys").RunAsync(), ""), "N bytes");
        IEnumerable<string> keys = (await Cli(server, "--scan", "--pattern", "key:*9").RunAsync()).Split('\n').Order();
        return $"{bigKeys}\n{memKeys}\n{string.Join('\n', keys)}";
    });

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Statistics_are_shown_while_the_server_works() => await AssertAlikeAsync(async server =>
    {
        await Cli(server, "FLUSHALL").RunAsync();
        await Cli(server, "SET", "book", "Dune").RunAsync();

        string[] lines = await Cli(server, "--stat", "-i", "0.01").RunForLinesAsync(6);

        // keys, mem, clients, blocked, requests with how many more, connections.
        IEnumerable<string> rows = lines.Skip(2).Select(line => StatisticsRow().Replace(line, "row with a key"));
        return string.Join('\n', [.. lines.Take(2), .. rows]);
    });

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Latency_is_measured() => await AssertAlikeAsync(async server =>
    {
        string output = await Cli(server, "--raw", "--latency", "-i", "0.1").RunAsync();

        // Shortest, longest, average, samples.
        return LatencyRow().Replace(output, "four numbers");
    });

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Clients_authenticate_as_with_redis()
    {
        using var redis = RedisProcess.Start("--requirepass", "secret", "--user", "reader", "on", ">p1", "~*", "&*", "+@all", "-@write", "-@admin");
        await using StoreServer cairn = await StoreServer.StartAsync(configureResp: server => server.Users = RespUsers.Parse(
            $"""
            default {Hash("secret")} read-write
            reader {Hash("p1")} read-only
            """,
            "users"));

        string[] outputs = await Task.WhenAll(AuthenticateAsync(redis.EndPoint), AuthenticateAsync(cairn.EndPoint(WireProtocol.Resp)));

        ClientScript.AssertSameLines(outputs[0], outputs[1]);

        static string Hash(string password) => "#" + Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(password)));
    }

    [RequiresToolTheory("redis-server", "redis-benchmark")]
    [InlineData(1)]
    [InlineData(16)]
    public async Task Benchmark_finds_no_error(int pipeline) => await AssertAlikeAsync(async server =>
    {
        var program = new ClientProgram(
            "redis-benchmark", "-h", "127.0.0.1", "-p", Port(server), "-t", "ping,set,get,incr,hset,mset", "-n", "2000", "-c", "10",
            "-r", "1000", "-P", pipeline.ToString(CultureInfo.InvariantCulture), "--csv");

        (int exitCode, string output, string errors) = await program.RunToAnyEndAsync();

        // The names of the tests, without the figures.
        IEnumerable<string> names = output.Split('\n').Select(line => line.Split(',')[0]);
        return $"{exitCode}\n{string.Join('\n', names)}\n{errors}";
    });

    private static async Task<string> AuthenticateAsync(IPEndPoint server)
    {
        string address = $"127.0.0.1:{Port(server)}";
        string[][] attempts =
        [
            ["PING"],
            ["-a", "secret", "SET", "book", "Dune"],
            ["-a", "wrong", "GET", "book"],
            ["-3", "-a", "secret", "GET", "book"],
            ["--user", "reader", "--pass", "p1", "GET", "book"],
            ["--user", "reader", "--pass", "p1", "SET", "book", "Emma"],
            ["--user", "reader", "--pass", "wrong", "GET", "book"],
            ["-3", "--user", "unknown", "--pass", "p1", "GET", "book"],
            ["-u", $"redis://reader:p1@{address}/0", "ACL", "WHOAMI"],
            ["-u", $"redis://secret@{address}", "ACL", "WHOAMI"],
            ["-u", $"redis://{address}", "GET", "book"],
        ];
        var output = new StringBuilder();
        foreach (string[] attempt in attempts)
        {
            (int exitCode, string answer, string errors) = await Cli(server, ["--no-auth-warning", .. attempt]).RunToAnyEndAsync();
            output.AppendJoin(' ', attempt).Append(CultureInfo.InvariantCulture, $": {exitCode} {answer}{errors}");
        }

        return output.Append(await (Cli(server, "PING") with { Environment = new() { ["REDISCLI_AUTH"] = "secret" } }).RunAsync())
            .Replace(address, "SERVER").ToString();
    }

    private static ClientProgram Cli(IPEndPoint server, params string[] arguments) =>
        new("redis-cli", ["-h", "127.0.0.1", "-p", Port(server), .. arguments]);

    private static string Port(IPEndPoint server) => server.Port.ToString(CultureInfo.InvariantCulture);

    private async Task AssertAlikeAsync(Func<IPEndPoint, Task<string>> run)
    {
        string[] outputs = await Task.WhenAll(run(servers.Redis), run(servers.Cairn));

        ClientScript.AssertSameLines(Elapsed().Replace(outputs[0], ""), Elapsed().Replace(outputs[1], ""));
    }

    // redis-cli adds this to each reply that took half a second. On a busy machine this can happen for any reply.
    [GeneratedRegex(@"^\([0-9.]+s\)\n", RegexOptions.Multiline)]
    private static partial Regex Elapsed();

    [GeneratedRegex(@"^\[[0-9.]+%\].*\n", RegexOptions.Multiline)]
    private static partial Regex Progress();

    [GeneratedRegex(@"[0-9]+ bytes.*")]
    private static partial Regex Bytes();

    [GeneratedRegex(@"^1 +[0-9.]+[BKMG] +[0-9]+ +0 +[0-9]+ \(\+[0-9]+\) +[0-9]+ *$")]
    private static partial Regex StatisticsRow();

    [GeneratedRegex("^[0-9]+ [0-9]+ [0-9.]+ [0-9]+$", RegexOptions.Multiline)]
    private static partial Regex LatencyRow();
}
