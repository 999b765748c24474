namespace Cairn.Server;

/// <summary>What a server serves, where, and to whom. Checked before anything is opened.</summary>
/// <remarks>
/// Addresses are HOST:PORT, [IPV6]:PORT, PORT for 127.0.0.1, *:PORT for every address of the machine, or unix:PATH; several are separated
/// by commas.
/// </remarks>
public sealed record ServerOptions
{
    /// <summary>The port of memcached: 11211.</summary>
    public const int MemcachedPort = 11211;

    /// <summary>The port of Redis: 6379.</summary>
    public const int RespPort = 6379;

    /// <summary>The port for HTTP: 8080.</summary>
    public const int HttpPort = 8080;

    private const long DefaultCapacityBytes = 1L << 30;

    /// <summary>
    /// The store's file. Default null: <c>cairn/server.cairn</c> in the current user's data folder, or in the state directory that the
    /// service manager gives. Created if absent. Other processes, servers among them, may use it at the same time.
    /// </summary>
    public string? StorePath { get; init; }

    /// <summary>Keeps nothing: the store lies in memory, belongs to this server alone, and goes with it. Default false.</summary>
    public bool IsEphemeral { get; init; }

    /// <summary>Size of the store's file if it is created; see <see cref="StoreOptions.CapacityBytes"/>. Default 1 GiB.</summary>
    public long CapacityBytes
    {
        get => GivenCapacityBytes ?? DefaultCapacityBytes;
        init => GivenCapacityBytes = value;
    }

    /// <summary>Size that the file may grow to, or 0 for no growth; see <see cref="StoreOptions.MaxCapacityBytes"/>. Default 0.</summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>Where memcached's protocol is spoken; null for nowhere. Default 127.0.0.1:11211.</summary>
    public string? Memcached { get; init; } = "127.0.0.1:11211";

    /// <summary>Where RESP, the protocol of Redis, is spoken; null for nowhere. Default 127.0.0.1:6379.</summary>
    public string? Resp { get; init; } = "127.0.0.1:6379";

    /// <summary>
    /// Where both protocols are spoken, told apart by the first byte: RESP's requests begin with an asterisk. Default null: nowhere.
    /// RESP's inline commands are not understood there.
    /// </summary>
    public string? Both { get; init; }

    /// <summary>
    /// Where the dashboard, figures and health are shown over HTTP, without TLS; null for nowhere, which is the default. Whoever starts the server says what
    /// serves it: <see cref="CairnServer.StartAsync"/>.
    /// </summary>
    public string? Http { get; init; }

    /// <summary>
    /// Names by which browsers may reach the dashboard, several with commas between, where they are neither an address nor localhost: that of
    /// a proxy before it, as a rule. Requests for other names are refused, so that no foreign page can reach it. Default null: none.
    /// </summary>
    public string? HttpNames { get; init; }

    /// <summary>Whether the server starts, with a warning, although <see cref="Http"/> cannot be listened on. Default false: that is an
    /// error.</summary>
    public bool IsHttpOptional { get; init; }

    /// <summary>Who may connect to Unix sockets: those who may write to their files. Default their owner.</summary>
    public UnixFileMode UnixMode { get; init; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>TLS on every TCP listener; null for none, which is the default.</summary>
    public TlsOptions? Tls { get; init; }

    /// <summary>What clients may cost the server.</summary>
    public ConnectionLimits Limits { get; init; } = new();

    /// <summary>How the server talks to the kernel. Default <see cref="IoKind.Auto"/>.</summary>
    public IoKind Io { get; init; } = IoKind.Auto;

    /// <summary>Threads that serve connections, 1 to 1,024; 0 for one per core, which is the default.</summary>
    public int Workers { get; init; }

    /// <summary>
    /// The longest value that clients may set, in bytes; 0 for the store's own limit, which is the default: the smaller of 64 MiB and an
    /// eighth of the capacity.
    /// </summary>
    public int MaxValueBytes { get; init; }

    /// <summary>The longest key that clients of RESP may use, 1 to 65,536 bytes. Default 65,536. Keys of memcached's protocol have at most 250.</summary>
    public int MaxKeyBytes { get; init; } = 65_536;

    /// <summary>
    /// A file of users of memcached's protocol, one <c>USER:PASSWORD</c> a line: clients then authenticate before anything else, as
    /// memcached's -Y has it. Default null: anybody may use it.
    /// </summary>
    public string? MemcachedUsersPath { get; init; }

    /// <summary>
    /// The password that clients of RESP must give, as requirepass of Redis; they may then do everything. Default null: none. Not together
    /// with <see cref="RespUsersPath"/>.
    /// </summary>
    public string? RespPassword { get; init; }

    /// <summary>
    /// A file of users of RESP, a line each: <c>NAME PASSWORD read-only|read-write [PREFIX]</c>, where PASSWORD is <c>sha256:HEX</c>,
    /// <c>pbkdf2:ITERATIONS:SALT:HASH</c> or <c>nopass</c>, and PREFIX is what all the user's keys begin with. Who does not say its name is
    /// <c>default</c>. Default null: anybody may do everything.
    /// </summary>
    public string? RespUsersPath { get; init; }

    /// <summary>Whether clients of memcached's protocol may empty the store. Default true.</summary>
    public bool AllowsFlush { get; init; } = true;

    /// <summary>Whether clients of memcached's protocol may stop the server. Default false.</summary>
    public bool AllowsShutdown { get; init; }

    /// <summary>
    /// Whether an address that other machines reach may be listened on although clients need not prove who they are, or without TLS. Default
    /// false: that is an error.
    /// </summary>
    public bool AllowsInsecure { get; init; }

    /// <summary>
    /// Requests that take this long or longer are kept in the slow log and told in the log; zero for all,
    /// <see cref="Timeout.InfiniteTimeSpan"/> for none. Default 10 ms, as with Redis.
    /// </summary>
    public TimeSpan SlowThreshold { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Which keyspace events are sent to clients of RESP that subscribe to them: letters as <c>notify-keyspace-events</c> of Redis has
    /// them, K or E and at least one class. Default empty: none. Clients can change it with <c>CONFIG SET</c>.
    /// </summary>
    public string NotifyKeyspaceEvents { get; init; } = "";

    /// <summary>How long <see cref="CairnServer.StopAsync"/> lets requests that have arrived be finished. Default 5 seconds.</summary>
    public TimeSpan StopTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The capacity that was asked for; null if the default is to do.</summary>
    internal long? GivenCapacityBytes { get; private init; }

    /// <summary>The size to grow to that was asked for; null if none was.</summary>
    internal long? GivenMaxCapacityBytes => MaxCapacityBytes == 0 ? null : MaxCapacityBytes;
}
