using Cairn.Redis.Access;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;
using StackExchange.Redis;

namespace Cairn.Redis.StackExchange.Multiplexing;

/// <summary>Sends the requests of a cache through an <see cref="IConnectionMultiplexer"/>, which the application owns.</summary>
/// <param name="connect">Returns the multiplexer. Called at the first request, and again after it has failed.</param>
internal sealed class MultiplexerAccess(Func<Task<IConnectionMultiplexer>> connect) : IRedisAccess
{
    private static readonly RedisValue[] s_entry = ["absexp", "sldexp", "data"];
    private static readonly RedisValue[] s_head = ["absexp", "sldexp"];

    private readonly Lock _gate = new();
    private Task<IConnectionMultiplexer>? _connecting;
    private volatile IConnectionMultiplexer? _multiplexer;

    public RedisClient? Client => null;

    public async ValueTask<EntryHead> ReadAsync(EntryLayout layout, string key, IBufferWriter<byte> destination, CancellationToken cancellationToken)
    {
        if (layout.IsPlain)
        {
            RedisValue[] parts = await ReadPlainAsync(key, cancellationToken).ConfigureAwait(false);
            return parts[1].IsNull ? default : EntryLayout.Join(BytesOf(parts[0]), BytesOf(parts[1]), destination);
        }

        RedisValue[] fields = await CallAsync(database => database.HashGetAsync(key, s_entry), cancellationToken).ConfigureAwait(false);
        EntryHead head = HeadOf(fields);
        if (head.IsFound)
        {
            destination.Write(((ReadOnlyMemory<byte>)fields[2]).Span);
        }

        return head;
    }

    public async ValueTask<(EntryHead Head, byte[]? Data)> ReadAsync(EntryLayout layout, string key, CancellationToken cancellationToken)
    {
        if (layout.IsPlain)
        {
            RedisValue[] parts = await ReadPlainAsync(key, cancellationToken).ConfigureAwait(false);
            return parts[1].IsNull ? default : EntryLayout.Join(BytesOf(parts[0]), BytesOf(parts[1]));
        }

        RedisValue[] fields = await CallAsync(database => database.HashGetAsync(key, s_entry), cancellationToken).ConfigureAwait(false);
        EntryHead head = HeadOf(fields);
        return head.IsFound ? (head, (byte[]?)fields[2]) : default;
    }

    public async ValueTask<EntryHead> ReadHeadAsync(EntryLayout layout, string key, CancellationToken cancellationToken) => layout.IsPlain
        ? EntryLayout.TimesOf(BytesOf(await CallAsync(database => database.StringGetAsync(EntryLayout.HeadKey(key)), cancellationToken).ConfigureAwait(false)))
        : HeadOf(await CallAsync(database => database.HashGetAsync(key, s_head), cancellationToken).ConfigureAwait(false));

    public ValueTask<long> NumberAsync(ReadOnlySpan<RedisArgument> command, int keyIndex, CancellationToken cancellationToken) =>
        NumberAsync(Translation.NameOf(command), Translation.ArgumentsOf(command, keyIndex), cancellationToken);

    public ValueTask<RedisReply[]?> TransactAsync(RedisArgument[][] commands, string key, CancellationToken cancellationToken) =>
        TransactAsync(commands, condition: null, cancellationToken);

    public async ValueTask<bool> TryTransactAsync(string key, string text, RedisArgument[][] commands, CancellationToken cancellationToken) =>
        await TransactAsync(commands, Condition.StringEqual(key, text), cancellationToken).ConfigureAwait(false) is not null;

    public async IAsyncEnumerable<string> ScanAsync(string pattern, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        IConnectionMultiplexer multiplexer = await ConnectAsync(cancellationToken).ConfigureAwait(false);
        int database = multiplexer.GetDatabase().Database;
        foreach (IServer server in Masters(multiplexer))
        {
            IAsyncEnumerator<RedisKey> keys = server.KeysAsync(database, pattern).GetAsyncEnumerator(cancellationToken);
            await using (keys.ConfigureAwait(false))
            {
                while (await TranslatedAsync(() => keys.MoveNextAsync().AsTask(), cancellationToken).ConfigureAwait(false))
                {
                    yield return keys.Current.ToString();
                }
            }
        }
    }

    public async ValueTask<TimeSpan> PingAsync(CancellationToken cancellationToken)
    {
        IConnectionMultiplexer multiplexer = await ConnectAsync(cancellationToken).ConfigureAwait(false);
        TimeSpan[] times = await TranslatedAsync(
            () => Task.WhenAll(Masters(multiplexer).Select(server => server.PingAsync())), cancellationToken).ConfigureAwait(false);
        return times.Max();
    }

    public ValueTask<ChannelMode> FindModeAsync(RedisInvalidationMode demanded, CancellationToken cancellationToken) => new(ChannelMode.PublishSubscribe);

    public IChangeSource CreateChanges(string channel, Func<CancellationToken, ValueTask<ChannelMode>> modeOf) => new MultiplexerChanges(this, channel);

    // The multiplexer holds no request back.
    public void FlushHeldBack()
    {
    }

    public ValueTask DisposeAsync() => default;

    /// <summary>Returns the multiplexer. An attempt that failed is repeated by the next call.</summary>
    public async ValueTask<IConnectionMultiplexer> ConnectAsync(CancellationToken cancellationToken)
    {
        if (_multiplexer is { } multiplexer)
        {
            return multiplexer;
        }

        Task<IConnectionMultiplexer> connecting;
        lock (_gate)
        {
            if (_connecting is null or { IsFaulted: true } or { IsCanceled: true })
            {
                _connecting = connect();
            }

            connecting = _connecting;
        }

#pragma warning disable VSTHRD003 // The task connects in the background and needs no thread of a caller.
        return _multiplexer = await TranslatedAsync(() => connecting, cancellationToken).ConfigureAwait(false);
#pragma warning restore VSTHRD003
    }

    /// <summary>Returns the connected servers that accept writes: one, or the masters of a Cluster.</summary>
    /// <exception cref="RedisConnectionException">There is none.</exception>
    public static IServer[] Masters(IConnectionMultiplexer multiplexer)
    {
        IServer[] masters = [.. multiplexer.GetServers().Where(server => server is { IsConnected: true, IsReplica: false })];
        return masters.Length > 0 ? masters : throw new RedisConnectionException("The multiplexer has no connection to a server that accepts writes.");
    }

    /// <summary>Awaits a call, and throws the exceptions that callers of a cache expect.</summary>
    public static async Task<T> TranslatedAsync<T>(Func<Task<T>> call, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        try
        {
            return await call().WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception failure) when (Translation.ExceptionOf(failure) is { } translated)
        {
#pragma warning disable MA0027 // A new exception, which has the failure as its cause.
            throw translated;
#pragma warning restore MA0027
        }
    }

    private static ReadOnlySpan<byte> BytesOf(RedisValue value) => ((ReadOnlyMemory<byte>)value).Span;

    private Task<RedisValue[]> ReadPlainAsync(string key, CancellationToken cancellationToken) =>
        CallAsync(database => database.StringGetAsync([EntryLayout.HeadKey(key), key]), cancellationToken);

    private static EntryHead HeadOf(RedisValue[] fields) => new(
        fields.Length > 2 && !fields[2].IsNull,
        fields[0].TryParse(out long absoluteTicks) ? absoluteTicks : -1,
        fields[1].TryParse(out long slidingTicks) ? slidingTicks : -1);

    private async Task<T> CallAsync<T>(Func<IDatabase, Task<T>> call, CancellationToken cancellationToken)
    {
        IConnectionMultiplexer multiplexer = await ConnectAsync(cancellationToken).ConfigureAwait(false);
        return await TranslatedAsync(() => call(multiplexer.GetDatabase()), cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<long> NumberAsync(string name, object[] arguments, CancellationToken cancellationToken)
    {
        RedisResult result = await CallAsync(database => database.ExecuteAsync(name, arguments), cancellationToken).ConfigureAwait(false);
        return result.Resp2Type == ResultType.Integer
            ? (long)result
            : throw new RedisException(string.Create(CultureInfo.InvariantCulture, $"The server replied with {result.Resp2Type} where a whole number was expected."));
    }

    private async ValueTask<RedisReply[]?> TransactAsync(RedisArgument[][] commands, Condition? condition, CancellationToken cancellationToken)
    {
        IConnectionMultiplexer multiplexer = await ConnectAsync(cancellationToken).ConfigureAwait(false);
        return await TranslatedAsync(ExecuteAsync, cancellationToken).ConfigureAwait(false);

        async Task<RedisReply[]?> ExecuteAsync()
        {
            ITransaction transaction = multiplexer.GetDatabase().CreateTransaction();
            if (condition is not null)
            {
                transaction.AddCondition(condition);
            }

            Task<RedisResult>[] replies =
                [.. commands.Select(command => transaction.ExecuteAsync(Translation.NameOf(command), Translation.ArgumentsOf(command, keyIndex: 1)))];
            bool isExecuted = await transaction.ExecuteAsync().ConfigureAwait(false);
            return isExecuted ? [.. (await Task.WhenAll(replies).ConfigureAwait(false)).Select(Translation.ReplyOf)] : null;
        }
    }
}
