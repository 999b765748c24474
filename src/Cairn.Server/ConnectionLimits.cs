using Cairn.Messages;

namespace Cairn.Server;

/// <summary>Limits on the resources that clients can use. The server closes a connection that exceeds a limit, after an error reply if
/// the protocol has one. Other connections are not affected.</summary>
public sealed record ConnectionLimits
{
    /// <summary>The minimum of <see cref="MaxInputBytesPerConnection"/> and <see cref="MaxOutputBytesPerConnection"/>: 64 KiB.</summary>
    public const int MinBytesPerConnection = 64 << 10;

    private const long SmallestBufferBytes = 1 << 20;

    /// <summary>Gets the maximum number of open connections over all listeners, 1 to 1,000,000. Default 10,000. Each connection needs a
    /// file descriptor.</summary>
    public int MaxConnections { get; init; } = 10_000;

    /// <summary>
    /// Gets the maximum size in bytes of an incomplete request that the server holds for a connection; 64 KiB to 1 GiB. Default 65 MiB:
    /// the longest value of a store and room for its key. The same limit applies to the requests that a connection queues between MULTI
    /// and EXEC.
    /// </summary>
    public int MaxInputBytesPerConnection { get; init; } = 65 << 20;

    /// <summary>
    /// Gets the maximum size in bytes of the messages that wait for a connection whose client reads slowly; 64 KiB to 1 GiB. Default 128
    /// MiB: twice the longest value. The same limit applies to a reply that must be created as a whole, such as that of EXEC. Other
    /// replies need no limit: the server stops executing a connection's requests when 64 KiB of its replies are unread. The server copies
    /// values that it cannot read in place only within this limit.
    /// </summary>
    public int MaxOutputBytesPerConnection { get; init; } = 128 << 20;

    /// <summary>
    /// Gets the maximum number of bytes that all connections together may hold, in buffers and elsewhere; 1 MiB or more. Default 512 MiB.
    /// When this memory is used up, replies wait. If something cannot wait, such as an incomplete request, the server closes the
    /// connection that holds the most of such memory. Copies of values that cannot be read in place leave half of the memory free. Copies
    /// for clients that have read as many bytes without delay leave an eighth free. A connection that needs more waits. While a client
    /// that reads without delay waits, the server closes clients that have read nothing for five seconds.
    /// </summary>
    public long MaxBufferBytes { get; init; } = 512L << 20;

    /// <summary>Gets the time that a connection may stay silent; above zero, or <see cref="Timeout.InfiniteTimeSpan"/>. Default infinite:
    /// clients keep pools of idle connections, which cost almost nothing.</summary>
    public TimeSpan IdleTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// Gets the time within which a request must arrive, from its first byte; above zero, or <see cref="Timeout.InfiniteTimeSpan"/>. The
    /// time starts again after every 64 KiB of the request. Default 1 minute: enough for a person who types a request. The limit also
    /// applies to a TLS handshake.
    /// </summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Gets the time within which a client must read 64 KiB of the replies that wait for it; above zero, or
    /// <see cref="Timeout.InfiniteTimeSpan"/>. Default 1 minute.
    /// </summary>
    public TimeSpan SlowReaderTimeout { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Gets the maximum number of requests of one connection that a worker executes before it serves other connections; 1 to 1,000,000.
    /// Default 256: they take less than a millisecond, and clients commonly send that many at once.
    /// </summary>
    public int MaxRequestsPerTurn { get; init; } = 256;

    internal void Validate()
    {
        ThrowIfOutside(MaxConnections, 1, 1_000_000, nameof(MaxConnections));
        ThrowIfSizeOutside(MaxInputBytesPerConnection, MinBytesPerConnection, 1 << 30, nameof(MaxInputBytesPerConnection));
        ThrowIfSizeOutside(MaxOutputBytesPerConnection, MinBytesPerConnection, 1 << 30, nameof(MaxOutputBytesPerConnection));
        if (MaxBufferBytes < SmallestBufferBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(MaxBufferBytes), MaxBufferBytes,
                $"{nameof(ConnectionLimits)}.{nameof(MaxBufferBytes)} must be {ByteText.Of(SmallestBufferBytes)} or more, not {ByteText.Of(MaxBufferBytes)}.");
        }

        ThrowIfNoTimeout(IdleTimeout, nameof(IdleTimeout));
        ThrowIfNoTimeout(RequestTimeout, nameof(RequestTimeout));
        ThrowIfNoTimeout(SlowReaderTimeout, nameof(SlowReaderTimeout));
        ThrowIfOutside(MaxRequestsPerTurn, 1, 1_000_000, nameof(MaxRequestsPerTurn));
    }

    private static void ThrowIfOutside(long value, long least, long most, string name)
    {
        if (value < least || value > most)
        {
            throw new ArgumentOutOfRangeException(
                name, value, $"{nameof(ConnectionLimits)}.{name} must be {least:N0} to {most:N0}, not {value:N0}.");
        }
    }

    private static void ThrowIfSizeOutside(long value, long least, long most, string name)
    {
        if (value < least || value > most)
        {
            throw new ArgumentOutOfRangeException(
                name, value, $"{nameof(ConnectionLimits)}.{name} must be {ByteText.Of(least)} to {ByteText.Of(most)}, not {ByteText.Of(value)}.");
        }
    }

    private static void ThrowIfNoTimeout(TimeSpan value, string name)
    {
        if (value != Timeout.InfiniteTimeSpan && (value <= TimeSpan.Zero || value > TimeSpan.FromDays(365)))
        {
            throw new ArgumentOutOfRangeException(
                name, value, $"{nameof(ConnectionLimits)}.{name} must be above zero and at most a year, or infinite.");
        }
    }
}
