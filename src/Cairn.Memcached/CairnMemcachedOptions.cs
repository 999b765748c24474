namespace Cairn.Memcached;

/// <summary>The servers and settings of a <see cref="CairnMemcachedCache"/>.</summary>
public sealed class CairnMemcachedOptions
{
    /// <summary>
    /// Gets the servers, as HOST:PORT, HOST (port 11211), [IPV6]:PORT or unix:PATH for a Unix socket. All processes must name the same
    /// servers, in any order.
    /// </summary>
    public IList<string> Servers { get; } = [];

    /// <summary>Gets or sets the prefix of all keys on the servers. Default empty.</summary>
    public string KeyPrefix { get; set; } = "";

    /// <summary>Gets or sets the user, for servers that require authentication in the text protocol. Default null.</summary>
    public string? User { get; set; }

    /// <summary>Gets or sets the password. Default null.</summary>
    public string? Password { get; set; }

    /// <summary>Gets or sets the time limit for connecting; 10 ms to 10 minutes. Default 1 second.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Gets or sets the time limit of a call; 10 ms to 10 minutes. Default 1 second.</summary>
    public TimeSpan OperationTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Gets or sets the number of consecutive failures after which a server is ejected; 1 to 1,000. Default 3. A refused connection ejects the
    /// server immediately.
    /// </summary>
    public int FailuresBeforeEjection { get; set; } = 3;

    /// <summary>Gets or sets the interval between attempts to reach an ejected server; 100 ms to an hour. Default 2 seconds.</summary>
    public TimeSpan ReturnInterval { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Gets or sets the longest lifetime of entries that another server stores in place of an ejected one; 1 second to an hour. Default 10 seconds.
    /// For the same time after a server returns, no other server may replace it again. So entries from its last absence expire before they can be
    /// read.
    /// </summary>
    public TimeSpan StandInLifetime { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Gets or sets whether a returning server is emptied with <c>flush_all</c>, because its entries may have changed elsewhere in the meantime.
    /// Default true. Set it to false only if the servers always lose their entries when they stop.
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

        Check(ConnectTimeout, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(10), nameof(ConnectTimeout));
        Check(OperationTimeout, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(10), nameof(OperationTimeout));
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
