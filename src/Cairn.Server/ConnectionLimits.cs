using Cairn.Messages;

namespace Cairn.Server;

/// <summary>What the clients of a server may cost it. A client that breaks a limit gets its protocol's error, where there is
/// one, and is closed; the others do not notice.</summary>
public sealed record ConnectionLimits
{
    /// <summary>The least for <see cref="InputBytesPerConnection"/> and <see cref="OutputBytesPerConnection"/>: 64 KiB.</summary>
    public const int SmallestBytesPerConnection = 64 << 10;

    private const long SmallestBufferBytes = 1 << 20;

    /// <summary>Connections at once, over all listeners; 1 to 1,000,000. Default 10,000. Each needs a file descriptor.</summary>
    public int Connections { get; init; } = 10_000;

    /// <summary>
    /// Bytes of a request that a connection may make the server hold until it is complete; 64 KiB to 1 GiB. Default 65 MiB: the
    /// longest value of a store, and room for its key. It is also the limit of the requests that a connection queues between MULTI and EXEC.
    /// </summary>
    public int InputBytesPerConnection { get; init; } = 65 << 20;

    /// <summary>
    /// Bytes of messages that may wait for a connection that reads slowly; 64 KiB to 1 GiB. Default 128 MiB: the longest
    /// value twice. It is also the limit of a reply that must be made at once, as that of EXEC. Other replies need no limit: a
    /// connection whose client does not read is not served any more from 64 KiB on. A value that cannot be read in place
    /// is copied for the connection only within this limit.
    /// </summary>
    public int OutputBytesPerConnection { get; init; } = 128 << 20;

    /// <summary>
    /// Bytes that all connections may hold together, in buffers and otherwise; 1 MiB or more. Default 512 MiB. Replies wait while it is
    /// used up. What cannot wait, such as a request that is not complete, costs the connection that holds most of it. Copies of values that
    /// cannot be read in place leave half of it free, those for clients that have read as much without delay an eighth; a connection that needs
    /// more of them waits. While such a client waits, clients that have read nothing for five seconds are closed.
    /// </summary>
    public long BufferBytes { get; init; } = 512L << 20;

    /// <summary>How long a connection may send nothing; above zero, or <see cref="Timeout.InfiniteTimeSpan"/>. Default
    /// infinite: clients keep pools of idle connections, which cost next to nothing.</summary>
    public TimeSpan IdleTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>
    /// How long a request may take to arrive, from its first byte on, and again for every 64 KiB of it; above zero, or
    /// <see cref="Timeout.InfiniteTimeSpan"/>. Default 1 minute: enough for a person who types one. Also how long a TLS
    /// handshake may take.
    /// </summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// How long a client may take to read 64 KiB of its replies once they wait for it; above zero, or
    /// <see cref="Timeout.InfiniteTimeSpan"/>. Default 1 minute.
    /// </summary>
    public TimeSpan SlowReaderTimeout { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Requests of one connection that are executed before it is the others' turn; 1 to 1,000,000. Default 256: less than a millisecond of
    /// the others' time, and as many as clients commonly send at once.
    /// </summary>
    public int RequestsPerTurn { get; init; } = 256;

    internal void Validate()
    {
        ThrowIfOutside(Connections, 1, 1_000_000, nameof(Connections));
        ThrowIfSizeOutside(InputBytesPerConnection, SmallestBytesPerConnection, 1 << 30, nameof(InputBytesPerConnection));
        ThrowIfSizeOutside(OutputBytesPerConnection, SmallestBytesPerConnection, 1 << 30, nameof(OutputBytesPerConnection));
        if (BufferBytes < SmallestBufferBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(BufferBytes), BufferBytes,
                $"{nameof(ConnectionLimits)}.{nameof(BufferBytes)} must be {ByteText.Of(SmallestBufferBytes)} or more, not {ByteText.Of(BufferBytes)}.");
        }

        ThrowIfNoTimeout(IdleTimeout, nameof(IdleTimeout));
        ThrowIfNoTimeout(RequestTimeout, nameof(RequestTimeout));
        ThrowIfNoTimeout(SlowReaderTimeout, nameof(SlowReaderTimeout));
        ThrowIfOutside(RequestsPerTurn, 1, 1_000_000, nameof(RequestsPerTurn));
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
