using System.Net;
using System.Security.Cryptography.X509Certificates;
using Cairn.Clients.Connections;

namespace Cairn.Redis;

/// <summary>The servers and settings of a <see cref="RedisClient"/>. They are validated together when the client is created.</summary>
public sealed record RedisClientOptions
{
    /// <summary>The default port of Redis.</summary>
    public const int DefaultPort = 6379;

    /// <summary>
    /// Gets the end points of the server, at least one. For a Cluster, some of its nodes are enough; the client finds the others. Without a
    /// Cluster, the client uses the first end point that it reaches and that is not a replica.
    /// </summary>
    public required IReadOnlyList<EndPoint> EndPoints { get; init; }

    /// <summary>Gets the user in the server's access control list. Default null: the server's default user.</summary>
    public string? User { get; init; }

    /// <summary>Gets the password. Default null: the client sends none.</summary>
    public string? Password { get; init; }

    /// <summary>Gets the number of the database. Default 0, the only database of a Cluster.</summary>
    public int Database { get; init; }

    /// <summary>Gets the connection's name, as <c>CLIENT LIST</c> shows it; without spaces. Default null: the machine's name.</summary>
    public string? ClientName { get; init; }

    /// <summary>Gets the version of the protocol. Default: the newest version that the server supports.</summary>
    public RedisProtocol Protocol { get; init; }

    /// <summary>Gets whether connections are encrypted. Default false.</summary>
    public bool UseTls { get; init; }

    /// <summary>Gets the host name that the server's certificate must have. Default null: the host of the end point.</summary>
    public string? TlsHost { get; init; }

    /// <summary>Gets the path of a PEM file with the trusted certificate authorities. Default null: the authorities of the system.</summary>
    public string? TlsAuthorityPath { get; init; }

    /// <summary>Gets the client certificate with its private key, for servers that require one. Default null.</summary>
    public X509Certificate2? TlsCertificate { get; init; }

    /// <summary>
    /// Gets the time limit for establishing a connection, including TLS and authentication; 10 ms to 10 minutes. Default 5 seconds.
    /// </summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Gets the time limit of a call, including the wait for a connection and for room; 10 ms to 10 minutes. Default 5 seconds, as in
    /// StackExchange.Redis. It is accurate to 20 ms.
    /// </summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Gets how long a server may send nothing while replies are due. After that, the client closes the connection and establishes a new one.
    /// 100 ms to an hour. Default 15 seconds, more than a slow command takes.
    /// </summary>
    public TimeSpan SilenceLimit { get; init; } = ConnectionOptions.DefaultSilenceLimit;

    /// <summary>
    /// Gets the shortest delay after a failed connection attempt; 1 ms to <see cref="MaxReconnectDelay"/>. Default 20 ms. It doubles with each
    /// failure.
    /// </summary>
    public TimeSpan MinReconnectDelay { get; init; } = ConnectionOptions.DefaultMinReconnectDelay;

    /// <summary>
    /// Gets the longest delay after a failed connection attempt; up to 10 minutes. Default 2 seconds. A random part, up to half of the delay, is
    /// subtracted, so that clients do not reconnect at the same moment.
    /// </summary>
    public TimeSpan MaxReconnectDelay { get; init; } = ConnectionOptions.DefaultMaxReconnectDelay;

    /// <summary>
    /// Gets the number of calls that may wait for their replies on one connection; further calls wait for room. 1 to 1,000,000. Default 10,000.
    /// </summary>
    public int MaxPendingCalls { get; init; } = ConnectionOptions.DefaultMaxPendingCalls;

    /// <summary>
    /// Gets the number of request bytes that may wait to be sent on one connection; further calls wait for room. 1 KiB to 1 GiB. Default 16 MiB.
    /// </summary>
    public int MaxUnsentBytes { get; init; } = ConnectionOptions.DefaultMaxUnsentBytes;

    /// <summary>Gets the interval of unprompted reads of a Cluster's topology; 1 second to a day. Default 1 minute.</summary>
    public TimeSpan TopologyRefreshInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Parses a configuration in the text format of StackExchange.Redis: end points and settings in any order, separated by commas, such as
    /// <c>redis-1:6379,redis-2,password=secret,ssl=true,defaultDatabase=2</c>.
    /// </summary>
    /// <param name="configuration">The text. docs/reference/redis.md lists the settings.</param>
    /// <exception cref="FormatException">The text is malformed. The message names the part and the reason, and contains no password.</exception>
    public static RedisClientOptions Parse(string configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return ConfigurationText.Parse(configuration);
    }

    // The generated ToString would print the password.
    private bool PrintMembers(System.Text.StringBuilder builder)
    {
        builder.Append("EndPoints = ").AppendJoin(", ", EndPoints).Append(", User = ").Append(User).Append(", UseTls = ").Append(UseTls)
            .Append(", Database = ").Append(Database);
        return true;
    }

    internal void Validate()
    {
        if (EndPoints is null || EndPoints.Count == 0 || EndPoints.Any(place => place is null))
        {
            throw new ArgumentException("No end point was given: a host and port, such as localhost:6379.", nameof(EndPoints));
        }

        if (User is not null && Password is null)
        {
            throw new ArgumentException("A user was given without a password.", nameof(Password));
        }

        if (ClientName is { } name && name.Any(letter => letter is <= ' ' or > '~'))
        {
            throw new ArgumentException($"The client's name '{name}' has letters other than those of ASCII, or spaces.", nameof(ClientName));
        }

        Check(Database, 0, int.MaxValue, nameof(Database));
        Check(MaxPendingCalls, 1, 1_000_000, nameof(MaxPendingCalls));
        Check(MaxUnsentBytes, 1 << 10, 1 << 30, nameof(MaxUnsentBytes));
        Check(ConnectTimeout, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(10), nameof(ConnectTimeout));
        Check(OperationTimeout, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(10), nameof(OperationTimeout));
        Check(SilenceLimit, TimeSpan.FromMilliseconds(100), TimeSpan.FromHours(1), nameof(SilenceLimit));
        Check(MaxReconnectDelay, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(10), nameof(MaxReconnectDelay));
        Check(MinReconnectDelay, TimeSpan.FromMilliseconds(1), MaxReconnectDelay, nameof(MinReconnectDelay));
        Check(TopologyRefreshInterval, TimeSpan.FromSeconds(1), TimeSpan.FromDays(1), nameof(TopologyRefreshInterval));
        if (!Enum.IsDefined(Protocol))
        {
            throw new ArgumentOutOfRangeException(nameof(Protocol), Protocol, "There is no such protocol.");
        }
    }

    private static void Check<T>(T value, T least, T most, string name)
        where T : IComparable<T>
    {
        if (value.CompareTo(least) < 0 || value.CompareTo(most) > 0)
        {
            throw new ArgumentOutOfRangeException(name, value, $"{name} is {value}; it has to be from {least} to {most}.");
        }
    }
}
