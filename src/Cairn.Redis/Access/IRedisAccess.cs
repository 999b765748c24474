using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;

namespace Cairn.Redis.Access;

/// <summary>
/// The requests that a cache sends, and the client that sends them. All failures are exceptions of the type <see cref="RedisException"/>.
/// </summary>
internal interface IRedisAccess : IAsyncDisposable
{
    /// <summary>Gets the client of this package; null if another client sends the requests.</summary>
    RedisClient? Client { get; }

    /// <summary>Reads an entry, and writes its data to the buffer if there is an entry.</summary>
    ValueTask<EntryHead> ReadAsync(EntryLayout layout, string key, IBufferWriter<byte> destination, CancellationToken cancellationToken);

    /// <summary>Reads an entry. Returns a copy of its data; null if there is none.</summary>
    ValueTask<(EntryHead Head, byte[]? Data)> ReadAsync(EntryLayout layout, string key, CancellationToken cancellationToken);

    /// <summary>Reads the expiration of an entry.</summary>
    ValueTask<EntryHead> ReadHeadAsync(EntryLayout layout, string key, CancellationToken cancellationToken);

    /// <summary>Sends a command whose reply is a whole number.</summary>
    /// <param name="command">The words of the command.</param>
    /// <param name="keyIndex">The position of the key that selects the node of a Cluster; -1 for any node.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    ValueTask<long> NumberAsync(ReadOnlySpan<RedisArgument> command, int keyIndex, CancellationToken cancellationToken);

    /// <summary>Executes commands as one transaction.</summary>
    /// <param name="commands">The commands without <c>MULTI</c> and <c>EXEC</c>. The word after the name of each is a key or a channel.</param>
    /// <param name="key">The key that selects the node of a Cluster.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The replies; null if the server aborted the transaction.</returns>
    ValueTask<RedisReply[]?> TransactAsync(RedisArgument[][] commands, string key, CancellationToken cancellationToken);

    /// <summary>Executes commands as one transaction if a key holds a text. For servers without scripts.</summary>
    /// <returns>False if the key holds another text; nothing has changed then.</returns>
    ValueTask<bool> TryTransactAsync(string key, string text, RedisArgument[][] commands, CancellationToken cancellationToken);

    /// <summary>Lists the keys on the server, or on all masters of a Cluster, that match a glob pattern (<c>SCAN</c>).</summary>
    IAsyncEnumerable<string> ScanAsync(string pattern, CancellationToken cancellationToken);

    /// <summary>Sends a <c>PING</c> to the server, or to all masters of a Cluster. Returns the time until the last reply.</summary>
    ValueTask<TimeSpan> PingAsync(CancellationToken cancellationToken);

    /// <summary>Returns the mode in which changes are received: the demanded one, or the best one that client and server support.</summary>
    ValueTask<ChannelMode> FindModeAsync(RedisInvalidationMode demanded, CancellationToken cancellationToken);

    /// <summary>Creates a source of changes. It does nothing before it is started.</summary>
    /// <param name="channel">The Redis channel on which changes are published.</param>
    /// <param name="modeOf">Returns the mode in which changes are received.</param>
    IChangeSource CreateChanges(string channel, Func<CancellationToken, ValueTask<ChannelMode>> modeOf);

    /// <summary>Sends requests that are held back. A caller that is about to block its thread calls this first.</summary>
    void FlushHeldBack();
}
