namespace Cairn.Redis;

/// <summary>Which servers a <see cref="CairnMemcachedCache"/> keeps its entries on.</summary>
public sealed class CairnMemcachedOptions
{
    /// <summary>The servers, as HOST:PORT, HOST (port 11211), [IPV6]:PORT or unix:PATH of a Unix socket. All processes name the same, in any order.</summary>
    public IList<string> Servers { get; } = [];

    /// <summary>What all keys begin with on the servers. Default empty.</summary>
    public string KeyPrefix { get; set; } = "";

    /// <summary>The user, where servers ask for one in the text protocol. Default null.</summary>
    public string? User { get; set; }

    /// <summary>The password. Default null.</summary>
    public string? Password { get; set; }

    /// <summary>How long making a connection may take; 10 ms to 10 minutes. Default 1 second.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a call may take; 10 ms to 10 minutes. Default 1 second.</summary>
    public TimeSpan OperationTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Failures in a row after which a server is ejected; 1 to 1,000. Default 3. A refused connection ejects it at once.</summary>
    public int FailuresBeforeEjection { get; set; } = 3;

    /// <summary>How often an ejected server is tried; 100 ms to an hour. Default 2 seconds.</summary>
    public TimeSpan ReturnInterval { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// How long entries live at most that are written to another server in place of an ejected one; 1 second to an hour. Default 10 seconds. For as
    /// long after its return nothing takes its place again, so that no entry from its last absence is found.
    /// </summary>
    public TimeSpan StandInLifetime { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Whether a server that returns is emptied (<c>flush_all</c>), because it may hold what was changed elsewhere meanwhile. Default true; false
    /// only for servers that lose their entries whenever they go away.
    /// </summary>
    public bool FlushOnReturn { get; set; } = true;

    internal void Validate()
    {
        if (Servers.Count == 0 || Servers.Any(string.IsNullOrWhiteSpace))
        {
            throw new InvalidOperationException($"{nameof(Servers)} of {nameof(CairnMemcachedOptions)} names no server, such as 'localhost:11211'.");
        }

        if (Servers.Distinct(StringComparer.OrdinalIgnoreCase).Count() != Servers.Count)
        {
            throw new InvalidOperationException($"{nameof(Servers)} of {nameof(CairnMemcachedOptions)} names a server twice.");
        }

        if ((User is null) != (Password is null))
        {
            throw new InvalidOperationException($"{nameof(User)} and {nameof(Password)} belong together; one of them is missing.");
        }

        Check(FailuresBeforeEjection, 1, 1000, nameof(FailuresBeforeEjection));
        Check(ReturnInterval, TimeSpan.FromMilliseconds(100), TimeSpan.FromHours(1), nameof(ReturnInterval));
        Check(StandInLifetime, TimeSpan.FromSeconds(1), TimeSpan.FromHours(1), nameof(StandInLifetime));
    }

    private static void Check<T>(T value, T least, T most, string name)
        where T : IComparable<T>
    {
        if (value.CompareTo(least) < 0 || value.CompareTo(most) > 0)
        {
            throw new InvalidOperationException($"{name} is {value}; it has to be from {least} to {most}.");
        }
    }
}
