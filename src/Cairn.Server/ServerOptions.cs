namespace Cairn.Server;

/// <summary>The options of a server: its store, protocols, addresses and limits. They are checked before anything is opened.</summary>
/// <remarks>
/// An address is HOST:PORT, [IPV6]:PORT, PORT for 127.0.0.1, *:PORT for every address of the machine, or unix:PATH. Several addresses are
/// separated by commas.
/// </remarks>
public sealed record ServerOptions
{
    /// <summary>The default port of memcached: 11211.</summary>
    public const int MemcachedPort = 11211;

    /// <summary>The default port of Redis: 6379.</summary>
    public const int RespPort = 6379;

    /// <summary>The default port for HTTP: 8080.</summary>
    public const int HttpPort = 8080;

    private const long DefaultCapacityBytes = 1L << 30;

    /// <summary>
    /// Gets the path of the store's file. Default null: <c>cairn/server.cairn</c> in the data folder of the current user, or in the state
    /// directory that the service manager sets. The file is created if it does not exist. Other processes, including other servers, may
    /// use it at the same time.
    /// </summary>
    public string? StorePath { get; init; }

    /// <summary>Gets whether the store exists only in memory. Such a store belongs to this server alone and is lost when the server
    /// stops. Default false.</summary>
    public bool IsEphemeral { get; init; }

    /// <summary>Gets the size in bytes of the store's file if it is created; see <see cref="StoreOptions.CapacityBytes"/>. Default 1
    /// GiB.</summary>
    public long CapacityBytes
    {
        get => GivenCapacityBytes ?? DefaultCapacityBytes;
        init => GivenCapacityBytes = value;
    }

    /// <summary>Gets the size in bytes up to which the file may grow, or 0 for no growth; see
    /// <see cref="StoreOptions.MaxCapacityBytes"/>. Default 0.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>
    /// Gets whether the server evicts entries when the store is full. Default true. If not, a write that finds no room is an error, as with
    /// memcached's option -M. Only expired and removed entries make room then. Other processes that have the store open still evict.
    /// </summary>
    public bool EvictsEntries { get; init; } = true;

    /// <summary>
    /// Gets the prefixes of pinned keys: the server keeps their entries until they are removed, replaced or expired. They are in the kept
    /// collection <c>pinned</c> of the store, so entries that were stored before their prefix was given are not found. At most 64. Default: none.
    /// </summary>
    public IReadOnlyList<string> PinnedPrefixes { get; init; } = [];

    /// <summary>Gets the maximum number of bytes of pinned entries, at most half of the store's file. A write that would exceed it is an error.
    /// An error without <see cref="PinnedPrefixes"/>. Default 0: a quarter of the file.</summary>
    public long PinnedBytes { get; init; }

    /// <summary>Gets the addresses for memcached's protocol; null for none. Default 127.0.0.1:11211.</summary>
    public string? Memcached { get; init; } = "127.0.0.1:11211";

    /// <summary>Gets the addresses for RESP, the protocol of Redis; null for none. Default 127.0.0.1:6379.</summary>
    public string? Resp { get; init; } = "127.0.0.1:6379";

    /// <summary>
    /// Gets the addresses on which the server speaks both protocols; null for none, which is the default. The first byte tells them
    /// apart: RESP requests begin with an asterisk. RESP's inline commands do not work there.
    /// </summary>
    public string? Both { get; init; }

    /// <summary>
    /// Gets the addresses for the dashboard, metrics and health over HTTP, without TLS; null for none, which is the default. The caller
    /// of <see cref="CairnServer.StartAsync"/> supplies the HTTP service.
    /// </summary>
    public string? Http { get; init; }

    /// <summary>
    /// Gets the host names, separated by commas, under which browsers may reach the dashboard. IP addresses and localhost are always
    /// accepted. A name is needed if, for example, a proxy is in front of the server. Requests for other names are refused, so that web
    /// pages of other sites cannot reach the dashboard. Default null: none.
    /// </summary>
    public string? HttpNames { get; init; }

    /// <summary>Gets whether the server starts, with a warning, if it cannot listen on <see cref="Http"/>. Default false: that is an
    /// error.</summary>
    public bool IsHttpOptional { get; init; }

    /// <summary>Gets the permissions of the files of Unix sockets. A user needs write permission to connect. Default: the owner
    /// only.</summary>
    public UnixFileMode UnixMode { get; init; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Gets the TLS options of all TCP listeners of the protocols; null for no TLS, which is the default.</summary>
    public TlsOptions? Tls { get; init; }

    /// <summary>Gets the limits on the resources that clients can use.</summary>
    public ConnectionLimits Limits { get; init; } = new();

    /// <summary>Gets the kernel interface that the server uses. Default <see cref="IoKind.Auto"/>.</summary>
    public IoKind Io { get; init; } = IoKind.Auto;

    /// <summary>Gets the number of threads that serve connections, 1 to 1,024; 0 for one per core, which is the default.</summary>
    public int Workers { get; init; }

    /// <summary>
    /// Gets the maximum length in bytes of the values that clients set; 0 for the store's own limit, which is the default: the smaller of
    /// 64 MiB and an eighth of the capacity.
    /// </summary>
    public int MaxValueBytes { get; init; }

    /// <summary>Gets the maximum length of the keys of RESP clients, 1 to 65,536 bytes. Default 65,536. Keys of memcached's protocol have
    /// at most 250 bytes.</summary>
    public int MaxKeyBytes { get; init; } = 65_536;

    /// <summary>
    /// Gets the path of a file with the users of memcached's protocol, one <c>USER:PASSWORD</c> per line. Clients must authenticate
    /// before any other request, as with memcached's option -Y. Default null: clients need not authenticate.
    /// </summary>
    public string? MemcachedUsersPath { get; init; }

    /// <summary>Gets the protocols that clients of memcached may speak. Default: text and binary.</summary>
    public MemcachedWireFormat MemcachedWireFormat { get; init; } = MemcachedWireFormat.Auto;

    /// <summary>
    /// Gets the password of RESP clients, as requirepass of Redis. A client with the password may execute every command. Default null: no
    /// password. Cannot be combined with <see cref="RespUsersPath"/>.
    /// </summary>
    public string? RespPassword { get; init; }

    /// <summary>
    /// Gets the path of a file with the users of RESP, one per line: <c>NAME PASSWORD read-only|read-write [PREFIX]</c>. PASSWORD is
    /// <c>sha256:HEX</c>, <c>pbkdf2:ITERATIONS:SALT:HASH</c> or <c>nopass</c>. All keys of a user with a PREFIX must begin with it. A
    /// client that does not give a name is the user <c>default</c>. Default null: every client may execute every command.
    /// </summary>
    public string? RespUsersPath { get; init; }

    /// <summary>
    /// Gets the version of memcached that clients see, three numbers with dots between. Clients compare it with the version that
    /// introduced a command. Default 1.6.45, the newest version whose commands the server knows.
    /// </summary>
    public string MemcachedVersion { get; init; } = "1.6.45";

    /// <summary>
    /// Gets whether clients of memcached's protocol see the versions of entries. Default true. Without versions, every entry has the
    /// version 0, as with memcached's option -C.
    /// </summary>
    public bool TellsVersions { get; init; } = true;

    /// <summary>
    /// Gets the character that ends the prefix of a key in the counts of <c>stats detail</c> of memcached's protocol. The requests are
    /// counted from the start. Default null: a colon, and they are counted after a client has switched it on.
    /// </summary>
    public char? MemcachedPrefixDelimiter { get; init; }

    /// <summary>Gets whether clients of memcached's protocol may list the keys. Default true.</summary>
    public bool AllowsDump { get; init; } = true;

    /// <summary>Gets whether clients of memcached's protocol may watch the requests of others. Default true.</summary>
    public bool AllowsWatch { get; init; } = true;

    /// <summary>Gets the maximum number of connections that wait to be accepted, 1 to 1,000,000. The kernel allows
    /// <c>net.core.somaxconn</c> at most. Default 4,096.</summary>
    public int Backlog { get; init; } = 4096;

    /// <summary>
    /// Gets whether the memory of the server, with the whole store, is locked, so that the system never swaps it out. If the system
    /// refuses, the log says so and the server starts nevertheless. Default false.
    /// </summary>
    public bool LocksMemory { get; init; }

    /// <summary>Gets whether clients of memcached's protocol may remove all entries. Default true.</summary>
    public bool AllowsFlush { get; init; } = true;

    /// <summary>Gets whether clients of memcached's protocol may stop the server. Default false.</summary>
    public bool AllowsShutdown { get; init; }

    /// <summary>
    /// Gets whether the server may listen on an address that other machines can reach without authentication or without TLS. Default
    /// false: that is an error.
    /// </summary>
    public bool AllowsInsecure { get; init; }

    /// <summary>
    /// Gets the time from which on a request is slow. Slow requests are recorded in the slow log and written to the server's log. Zero
    /// records all requests, <see cref="Timeout.InfiniteTimeSpan"/> none. Default 10 ms, as in Redis.
    /// </summary>
    public TimeSpan SlowThreshold { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Gets the keyspace events that are sent to subscribed RESP clients, in the letters of Redis' <c>notify-keyspace-events</c>: K or E,
    /// and at least one class. Default empty: none. Clients can change it with <c>CONFIG SET</c>.
    /// </summary>
    public string NotifyKeyspaceEvents { get; init; } = "";

    /// <summary>Gets the time that <see cref="CairnServer.StopAsync"/> allows for requests that have arrived. Default 5
    /// seconds.</summary>
    public TimeSpan StopTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The maximum of <see cref="WatcherBytes"/>: 64 MiB.</summary>
    internal const int MaxWatcherBytes = 64 << 20;

    /// <summary>Gets the number of bytes of log lines that may wait for a client of <c>watch</c>. Default 256 KiB, as in memcached.</summary>
    internal int WatcherBytes { get; init; } = 256 << 10;

    /// <summary>Gets the capacity that was set; null if it was not set and the default applies.</summary>
    internal long? GivenCapacityBytes { get; private init; }

    /// <summary>Returns whether a text has the form of a version of memcached.</summary>
    internal static bool IsMemcachedVersion(string text) =>
        text.Split('.') is { Length: 3 } numbers && Array.TrueForAll(numbers, number => number.Length is > 0 and < 5 && number.All(char.IsAsciiDigit));

    /// <summary>Gets the maximum capacity that was set; null if it was not set.</summary>
    internal long? GivenMaxCapacityBytes => MaxCapacityBytes == 0 ? null : MaxCapacityBytes;
}
