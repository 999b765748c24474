using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Cairn.Redis.Tests.Servers;
using Cairn.Redis.Tests.Testing;

namespace Cairn.Redis.Tests.Client;

/// <summary>Connections: authentication, servers that do not reply, and reconnection.</summary>
public sealed class ConnectionTests
{
    // The delay that a busy machine may add to a time-out.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [RequiresToolTheory("redis-server")]
    [InlineData("resp3")]
    [InlineData("resp2")]
    public async Task Right_password_and_user_have_access_and_wrong_ones_are_reported(string protocol)
    {
        using var server = RedisServer.Start("--requirepass", "secret", "--user", "reader", "on", ">word", "~*", "&*", "+@all");
        await using var client = RedisClient.Create($"{server.Configuration},password=secret,protocol={protocol}");
        await using var reader = RedisClient.Create($"{server.Configuration},user=reader,password=word,protocol={protocol}");
        await using var stranger = RedisClient.Create($"{server.Configuration},protocol={protocol}");
        await using var wrong = RedisClient.Create($"{server.Configuration},password=hunter2,protocol={protocol}");

        Assert.True(await client.SetAsync("key", "value"));
        Assert.NotNull(await reader.GetAsync("key"));
        var asked = await Assert.ThrowsAsync<RedisConnectionException>(async () => await stranger.GetAsync("key"));
        var refused = await Assert.ThrowsAsync<RedisConnectionException>(async () => await wrong.GetAsync("key"));

        Assert.Contains("asks for a password", asked.Message, StringComparison.Ordinal);
        Assert.Contains("wrong user or password", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("hunter2", refused.ToString(), StringComparison.Ordinal);
    }

    [RequiresToolFact("redis-server")]
    public async Task Node_that_leaves_after_it_was_chosen_is_a_lost_connection_and_not_the_end_of_the_client()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.ConnectAsync();
        var node = client.Nodes.Single();
        await node.DisposeAsync();
        long deadlineMs = Environment.TickCount64 + (long)s_patience.TotalMilliseconds;

        var lost = await Assert.ThrowsAsync<RedisConnectionException>(async () => await client.ConnectionOfAsync(node, deadlineMs, default));
        await client.DisposeAsync();

        Assert.False(lost.MayHaveExecuted);
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await client.ConnectionOfAsync(node, deadlineMs, default));
    }

    [RequiresToolFact("redis-server")]
    public async Task Tls_encrypts_and_checks_the_server()
    {
        using var directory = new TestDirectory();
        var authority = new TestAuthority(directory);
        int port = FreePorts.Take();
        using var server = RedisServer.Start(
            "--tls-port", port.ToString(CultureInfo.InvariantCulture), "--tls-cert-file", authority.CertificatePath, "--tls-key-file", authority.KeyPath,
            "--tls-ca-cert-file", authority.AuthorityPath, "--tls-auth-clients", "no");
        await using var client = RedisClient.Create($"localhost:{port},ssl=true,sslCa={authority.AuthorityPath}{RedisServer.Patience}");
        await using var careful = RedisClient.Create($"localhost:{port},ssl=true{RedisServer.Patience}");
        await using var plain = RedisClient.Create($"127.0.0.1:{port}{RedisServer.Patience}");
        byte[] value = new byte[1_000_000];
        Random.Shared.NextBytes(value);

        Assert.True(await client.SetAsync("key", value));
        Assert.Equal(value, await client.GetAsync("key"));
        await Task.WhenAll(Enumerable.Range(0, 2000).Select(i => client.SetAsync($"key:{i}", i).AsTask()));
        Assert.Equal("1999", Encoding.UTF8.GetString((await client.GetAsync("key:1999"))!));
        var refused = await Assert.ThrowsAsync<RedisConnectionException>(async () => await careful.PingAsync());
        Assert.Contains("TLS", refused.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<RedisConnectionException>(async () => await plain.PingAsync());
    }

    [RequiresToolFact("redis-server")]
    public async Task Frozen_server_costs_a_call_no_more_than_its_time_out_and_its_late_replies_are_dropped()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(
            RedisClientOptions.Parse(server.Configuration) with { OperationTimeout = TimeSpan.FromSeconds(1), SilenceLimit = TimeSpan.FromMinutes(1) });
        await client.Nodes.Single().GetAsync(s_patience, CancellationToken.None); // The first connection of a process may take longer than the time-out.
        await client.SetAsync("key", "value");

        ProcessSignals.Stop(server.ProcessId);
        long start = Stopwatch.GetTimestamp();
        Exception?[] outcomes = await Task.WhenAll(Enumerable.Range(0, 100).Select(
            _ => Record.ExceptionAsync(async () => await client.GetAsync("key"))));
        Assert.All(outcomes, outcome => Assert.IsType<RedisTimeoutException>(outcome));

        TimeSpan waited = Stopwatch.GetElapsedTime(start);
        ProcessSignals.Continue(server.ProcessId);
        await client.SetAsync("other", "another");

        Assert.InRange(waited, TimeSpan.FromMilliseconds(990), s_patience);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal("another", Encoding.UTF8.GetString((await client.GetAsync("other"))!));
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Call_ends_when_its_token_is_cancelled()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.PingAsync();
        ProcessSignals.Stop(server.ProcessId);
        using var cancellation = new CancellationTokenSource();

        Task<Exception> call = Record.ExceptionAsync(async () => await client.GetAsync("key", cancellation.Token));
        await cancellation.CancelAsync();

        Assert.IsAssignableFrom<OperationCanceledException>(await call);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await client.GetAsync("key", cancellation.Token));
        ProcessSignals.Continue(server.ProcessId);
        Assert.Null(await client.GetAsync("none"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Calls_beyond_the_bound_wait_for_room_and_are_done_in_the_end()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(
            RedisClientOptions.Parse(server.Configuration) with { MaxPendingCalls = 10, MaxUnsentBytes = 1024, OperationTimeout = TimeSpan.FromMinutes(1) });
        await client.PingAsync();
        ProcessSignals.Stop(server.ProcessId);

        Task[] calls = [.. Enumerable.Range(0, 500).Select(i => client.SetAsync($"key:{i}", new string('x', 200)).AsTask())];
        int pending = client.GetHealth().Servers[0].PendingCalls;
        ProcessSignals.Continue(server.ProcessId);
        await Task.WhenAll(calls);

        Assert.InRange(pending, 1, 10);
        Assert.Equal("500", server.Cli("DBSIZE"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Server_that_is_away_fails_calls_at_once_after_the_first_attempt()
    {
        int port = FreePorts.Take();
        await using var client = RedisClient.Create(RedisClientOptions.Parse($"127.0.0.1:{port}") with
        {
            MinReconnectDelay = TimeSpan.FromMinutes(1),
            MaxReconnectDelay = TimeSpan.FromMinutes(1),
        });

        await Assert.ThrowsAsync<RedisConnectionException>(async () => await client.GetAsync("key"));
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < 1000; i++)
        {
            await Assert.ThrowsAsync<RedisConnectionException>(async () => await client.GetAsync("key"));
        }

        Assert.InRange(Stopwatch.GetElapsedTime(start), TimeSpan.Zero, TimeSpan.FromMinutes(1)); // A wait for the next attempt would take as long.
        Assert.False(client.GetHealth().IsConnected);
        Assert.Contains("refused", client.GetHealth().Servers[0].LastFailure, StringComparison.Ordinal);
    }

    [RequiresToolFact("redis-server")]
    public async Task Server_that_is_restarted_under_load_loses_nothing_that_it_kept_and_mixes_nothing_up()
    {
        using var server = RedisServer.Start("--appendonly", "yes", "--appendfsync", "always");
        await using var client = RedisClient.Create(server.Configuration);
        await client.PingAsync();
        bool isOver = false;
        int[] written = new int[8];
        Task<Dictionary<string, int>>[] writers = [.. Enumerable.Range(0, written.Length).Select(writer => Task.Run(async () =>
        {
            // The last acknowledged value of each key. A failed write may have been executed or not.
            var acknowledged = new Dictionary<string, int>(StringComparer.Ordinal);
            for (int i = 1; !Volatile.Read(ref isOver); i++)
            {
                string key = $"{writer}:{i % 20}";
                try
                {
                    await client.SetAsync(key, i);
                    acknowledged[key] = i;
                    Interlocked.Increment(ref written[writer]);
                    byte[]? read = await client.GetAsync(key);
                    Assert.Equal(i, int.Parse(read, CultureInfo.InvariantCulture));
                }
                catch (RedisException)
                {
                    await Task.Delay(1); // While the server is away, calls fail at once.
                }
            }

            return acknowledged;
        }))];

        for (int restart = 0; restart < 3; restart++)
        {
            int[] before = [.. written];
            await Eventually.TrueAsync(() => before.Zip(written).All(pair => pair.Second > pair.First + 20), "that every writer writes all its keys");
            server.Kill();
            server.Run();
            await Eventually.TrueAsync(async () => await IsThereAsync(client), "the connection");
        }

        Volatile.Write(ref isOver, true);
        foreach (Task<Dictionary<string, int>> writer in writers)
        {
            Dictionary<string, int> acknowledged = await writer;
            Assert.NotEmpty(acknowledged);
            foreach ((string key, int value) in acknowledged)
            {
                Assert.InRange(int.Parse(await client.GetAsync(key), CultureInfo.InvariantCulture), value, int.MaxValue);
            }
        }

        Assert.Equal(4, client.GetHealth().Servers[0].Connections);
        await Eventually.TrueAsync(() => server.Cli("CLIENT", "LIST", "TYPE", "normal").Split('\n').Length == 2, "one connection, and that of redis-cli");
    }

    [RequiresToolTheory("redis-server")]
    [InlineData(ServerKind.Redis)]
    [InlineData(ServerKind.RedisPublishing)]
    [InlineData(ServerKind.Multiplexer)]
    public async Task Full_server_refuses_writes_and_keeps_what_it_has(ServerKind kind)
    {
        using var server = RedisServer.Start("--maxmemory", "3mb", "--maxmemory-policy", "noeviction");
        await using var cache = new CairnRedisCache(SharedServer.OptionsOf(kind, server.Configuration, instanceName: ""));
        var kept = new List<string>();
        RedisServerException? refusal = null;
        for (int i = 0; refusal is null && i < 1000; i++)
        {
            try
            {
                await cache.SetAsync($"key:{i}", new byte[50_000], new());
                kept.Add($"key:{i}");
            }
            catch (RedisServerException error)
            {
                refusal = error;
            }
        }

        // A multiplexer does not pass on which command of the transaction was refused, and why.
        Assert.Equal(kind == ServerKind.Multiplexer ? "EXECABORT" : "OOM", refusal?.Code);
        Assert.NotEmpty(kept);
        foreach (string key in kept)
        {
            Assert.Equal(50_000, (await cache.GetAsync(key))!.Length);
        }

        await cache.RemoveAsync(kept[0]);
        Assert.Null(await cache.GetAsync(kept[0]));
    }

    [Fact]
    public async Task Peer_that_speaks_something_else_is_an_error_and_no_hang()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task peer = Task.Run(async () =>
        {
            using TcpClient accepted = await listener.AcceptTcpClientAsync();
            await accepted.GetStream().WriteAsync(Encoding.ASCII.GetBytes("SSH-2.0-OpenSSH\r\n"));
            await Record.ExceptionAsync(() => accepted.GetStream().CopyToAsync(Stream.Null)); // Until the client closes the connection.
        });
        await using var client = RedisClient.Create($"127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}{RedisServer.Patience}");

        var error = await Assert.ThrowsAsync<RedisConnectionException>(async () => await client.PingAsync());

        Assert.Contains("not RESP", error.Message, StringComparison.Ordinal);
        await peer;
    }

    [RequiresToolFact("redis-server")]
    public async Task Continuation_that_blocks_delays_others_but_does_not_stop_them()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.SetAsync("key", "value");
        using var release = new ManualResetEventSlim();

        Task blocked = Task.Run(BlockAfterCallAsync);
        for (int i = 0; i < 100; i++)
        {
            Assert.NotNull(await client.GetAsync("key").AsTask().WaitAsync(TimeSpan.FromSeconds(30)));
        }

        Assert.False(blocked.IsCompleted);
        release.Set();
        await blocked;

        async Task BlockAfterCallAsync()
        {
            await client.GetAsync("key").ConfigureAwait(false);
            release.Wait();
        }
    }

    private static async Task<bool> IsThereAsync(RedisClient client)
    {
        try
        {
            await client.PingAsync();
            return true;
        }
        catch (RedisException)
        {
            return false;
        }
    }
}
