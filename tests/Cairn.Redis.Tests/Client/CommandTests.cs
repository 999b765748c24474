using System.Buffers;
using System.Text;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Client;

/// <summary>Commands of the client on a stock server.</summary>
public sealed class CommandTests
{
    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    [RequiresToolTheory("redis-server")]
    [InlineData(RedisProtocol.Automatic, 3)]
    [InlineData(RedisProtocol.Resp2, 2)]
    [InlineData(RedisProtocol.Resp3, 3)]
    public async Task Value_is_set_read_and_removed(RedisProtocol protocol, int version)
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(RedisClientOptions.Parse(server.Configuration) with { Protocol = protocol });

        Assert.Null(await client.GetAsync("book:42"));
        Assert.True(await client.SetAsync("book:42", "Dune"));
        Assert.Equal(Bytes("Dune"), await client.GetAsync("book:42"));
        var buffer = new ArrayBufferWriter<byte>();
        Assert.True(await client.GetAsync("book:42", buffer));
        Assert.False(await client.GetAsync("book:43", buffer));
        Assert.Equal("Dune"u8, buffer.WrittenSpan);
        Assert.False(await client.SetAsync("book:42", "Emma", condition: RedisSetCondition.IfMissing));
        Assert.False(await client.SetAsync("book:43", "Emma", condition: RedisSetCondition.IfExists));
        Assert.True(await client.SetAsync("book:42", "Emma", TimeSpan.FromSeconds(100)));
        Assert.InRange((await client.ExecuteAsync(["PTTL", "book:42"])).Integer, 90_000, 100_000);
        Assert.True(await client.DeleteAsync("book:42"));
        Assert.False(await client.DeleteAsync("book:42"));
        Assert.Equal(version, Assert.Single(client.GetHealth().Servers).ProtocolVersion);
    }

    [RequiresToolFact("redis-server")]
    public async Task Reply_is_read_into_a_buffer_or_discarded_or_written_as_text()
    {
        using var server = RedisServer.Start();
        using var client = RedisClient.Create(server.Configuration);
        var buffer = new ArrayBufferWriter<byte>();

        await client.PostAsync(["SET", "key", "value"]);
        await client.PostAsync(["NO-SUCH-COMMAND"]);
        Assert.True(await client.ExecuteAsync(["GET", "key"], buffer));
        Assert.False(await client.ExecuteAsync(["GET", "other"], buffer));

        Assert.Equal("value"u8, buffer.WrittenSpan);
        Assert.Equal("[value, (nothing), [1, 2]]", (await client.ExecuteAsync(["EVAL", "return {ARGV[1], false, {1, 2}}", 0, "value"])).ToString());
        Assert.Contains("'text'", (await Assert.ThrowsAsync<InvalidOperationException>(
            async () => _ = (await client.ExecuteAsync(["ECHO", "text"])).Integer)).Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(() => client.ExecuteAsync([]).AsTask());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.ExecuteAsync(["PING"], new CancellationToken(canceled: true)).AsTask());
    }

    [Fact]
    public void Arguments_with_the_same_bytes_are_equal()
    {
        RedisArgument text = "42";
        RedisArgument[] same = [42, Bytes("42"), new(new ReadOnlySequence<byte>(Bytes("x42"), 1, 2))];

        Assert.All(same, argument =>
        {
            Assert.True(text == argument && argument.Equals((object)text));
            Assert.Equal(text.GetHashCode(), argument.GetHashCode());
            Assert.Equal("42", argument.ToString());
        });
        Assert.True(text != "43");
        Assert.False(text.Equals((object)"42"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Many_keys_are_read_and_removed_at_once()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.SetAsync("a", "1");
        await client.SetAsync("c", Bytes("3"));

        byte[]?[] values = await client.GetManyAsync(["a", "b", "c"]);

        Assert.Equal(["1", null, "3"], values.Select(value => value is null ? null : Encoding.UTF8.GetString(value)));
        Assert.Equal(2, await client.DeleteAsync(["a", "b", "c"]));
        Assert.Empty(await client.GetManyAsync([]));
    }

    [RequiresToolFact("redis-server")]
    public async Task Values_of_all_sizes_come_back_as_they_were()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        var random = new Random(7);
        foreach (int size in new[] { 0, 1, 100, 16_383, 16_384, 32_768, 100_000, 5_000_000 })
        {
            byte[] value = new byte[size];
            random.NextBytes(value);

            await client.SetAsync("key", value);

            Assert.Equal(value, await client.GetAsync("key"));
        }
    }

    [RequiresToolFact("redis-server")]
    public async Task Each_of_many_callers_gets_the_reply_to_its_own_request()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);

        await Task.WhenAll(Enumerable.Range(0, 50).Select(async task =>
        {
            for (int i = 0; i < 400; i++)
            {
                string key = $"{task}:{i % 7}";
                byte[] value = Bytes($"{key}={i}{new string('x', i)}");
                await client.SetAsync(key, value);
                Assert.Equal(value, await client.GetAsync(key));
            }
        }));

        Assert.Equal(1, Assert.Single(client.GetHealth().Servers).Connections);
    }

    [RequiresToolFact("redis-server")]
    public async Task Error_of_the_server_is_an_exception_of_its_call_alone()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.ExecuteAsync(["HSET", "hash", "field", 1]);

        var error = await Assert.ThrowsAsync<RedisServerException>(async () => await client.GetAsync("hash"));

        Assert.Equal("WRONGTYPE", error.Code);
        Assert.Equal("1", (await client.ExecuteAsync(["HGET", "hash", "field"])).Text);
    }

    [RequiresToolFact("redis-server")]
    public async Task Replies_of_every_type_can_be_read()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.ExecuteAsync(["HSET", "h", "a", 1, "b", 2]);
        await client.ExecuteAsync(["SADD", "s", "x"]);
        await client.ExecuteAsync(["ZADD", "z", "1.5", "m"]);

        Assert.Equal(["a", "1", "b", "2"], (await client.ExecuteAsync(["HGETALL", "h"])).Items.Select(item => item.Text!));
        Assert.Equal("x", Assert.Single((await client.ExecuteAsync(["SMEMBERS", "s"])).Items).Text);
        RedisReply score = await client.ExecuteAsync(["ZSCORE", "z", "m"]);
        Assert.Equal((RedisReplyType.Double, "1.5"), (score.Type, score.Text));
        Assert.True((await client.ExecuteAsync(["HGET", "h", "none"])).IsNull);
        Assert.Equal(2, (await client.ExecuteAsync(["HLEN", "h"])).Integer);
        Assert.Throws<InvalidOperationException>(() => score.Integer);
    }

    [RequiresToolFact("redis-server")]
    public async Task Transaction_is_done_as_a_whole_or_not_at_all()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);

        IReadOnlyList<RedisReply> replies = await client.ExecuteTransactionAsync([["SET", "a", 1], ["INCR", "a"]]);
        var error = await Assert.ThrowsAsync<RedisServerException>(
            async () => await client.ExecuteTransactionAsync([["SET", "a", 7], ["NONSENSE"]]));

        Assert.Equal(["OK", "2"], replies.Select(reply => reply.Text!));
        Assert.StartsWith("ERR unknown command", error.Message, StringComparison.Ordinal);
        Assert.Equal(Bytes("2"), await client.GetAsync("a"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Command_that_is_posted_is_executed_before_the_next_one()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        for (int i = 0; i < 1000; i++)
        {
            await client.PostAsync(["INCR", "count"]);
        }

        await client.PostAsync(["GET"]); // No caller receives its error.
        Assert.Equal(Bytes("1000"), await client.GetAsync("count"));
    }

    [RequiresToolFact("redis-server")]
    public async Task Database_is_the_one_that_was_asked_for()
    {
        using var server = RedisServer.Start();
        await using var first = RedisClient.Create(server.Configuration);
        await using var second = RedisClient.Create($"{server.Configuration},defaultDatabase=3");

        await second.SetAsync("key", "three");

        Assert.Null(await first.GetAsync("key"));
        Assert.Equal("three", server.Cli("-n", "3", "GET", "key"));
    }
}
