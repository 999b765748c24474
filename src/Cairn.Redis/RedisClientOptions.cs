using System.Net;
using System.Security.Cryptography.X509Certificates;
using Cairn.Redis.Configuration;

namespace Cairn.Redis;

/// <summary>Which server a <see cref="RedisClient"/> connects to, and how. Checked as a whole when the client is created.</summary>
public sealed record RedisClientOptions
{
    /// <summary>Redis' port.</summary>
    public const int DefaultPort = 6379;

    /// <summary>
    /// Where the server is; of a Cluster, some of its nodes, the others are found. Of several that are no Cluster, the first that
    /// is reached and is no replica. At least one.
    /// </summary>
    public required IReadOnlyList<EndPoint> EndPoints { get; init; }

    /// <summary>The user of the server's access control list. Default null: the server's default user.</summary>
    public string? User { get; init; }

    /// <summary>The password. Default null: none is sent.</summary>
    public string? Password { get; init; }

    /// <summary>The number of the database. Default 0; a Cluster has no other.</summary>
    public int Database { get; init; }

    /// <summary>The connection's name, as <c>CLIENT LIST</c> shows it; no spaces. Default null: the machine's name.</summary>
    public string? ClientName { get; init; }

    /// <summary>Which protocol is spoken. Default: the newest that the server has.</summary>
    public RedisProtocol Protocol { get; init; }

    /// <summary>Whether connections are encrypted. Default false.</summary>
    public bool UseTls { get; init; }

    /// <summary>The name that the server's certificate must be for. Default null: the host of the end point.</summary>
    public string? TlsHost { get; init; }

    /// <summary>A file in PEM form with the authorities to trust. Default null: those of the system.</summary>
    public string? TlsAuthorityPath { get; init; }

    /// <summary>Our own certificate with its key, for servers that ask for one. Default null.</summary>
    public X509Certificate2? TlsCertificate { get; init; }

    /// <summary>How long making a connection may take, with TLS and logging in; 10 ms to 10 minutes. Default 5 seconds.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long a call may take, waiting for a connection and for room included; 10 ms to 10 minutes. Default 5 seconds, as
    /// StackExchange.Redis has it. It is kept to within 20 ms.
    /// </summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long a server may send nothing while replies are due before its connection is given up and made anew; 100 ms to an hour.
    /// Default 15 seconds, more than a slow command takes.
    /// </summary>
    public TimeSpan SilenceLimit { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>The shortest pause after a connection could not be made; 1 ms to <see cref="MaxReconnectDelay"/>. Default 20 ms. It doubles with each failure.</summary>
    public TimeSpan MinReconnectDelay { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>The longest such pause; up to 10 minutes. Default 2 seconds. Up to half is taken off at random, so that clients do not come all at once.</summary>
    public TimeSpan MaxReconnectDelay { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>Calls that may wait for their replies on one connection; further ones wait for room. 1 to 1,000,000. Default 10,000.</summary>
    public int MaxPendingCalls { get; init; } = 10_000;

    /// <summary>Bytes of requests that may wait to be sent on one connection; further ones wait for room. 1 KiB to 1 GiB. Default 16 MiB.</summary>
    public int MaxUnsentBytes { get; init; } = 16 << 20;

    /// <summary>How often a Cluster is asked for its topology without a reason; 1 second to a day. Default one minute.</summary>
    public TimeSpan TopologyRefreshInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Reads a configuration as StackExchange.Redis has it: end points and settings in any order, separated by commas, such as
    /// <c>redis-1:6379,redis-2,password=secret,ssl=true,defaultDatabase=2</c>.
    /// </summary>
    /// <param name="configuration">The text. docs/reference/redis.md has its settings.</param>
    /// <exception cref="FormatException">It cannot be read. The message says which part and why, and contains no password.</exception>
    public static RedisClientOptions Parse(string configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return ConfigurationText.Parse(configuration);
    }

    // A record would print the password.
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
