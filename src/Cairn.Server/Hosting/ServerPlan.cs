using Cairn.Messages;
using Cairn.Server.Connections;
using Cairn.Server.Listening;
using Cairn.Server.Memcached;
using Cairn.Server.Notifications;
using Cairn.Server.Pinning;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Hosting;

/// <summary>Options that were checked, with all defaults filled in.</summary>
internal sealed class ServerPlan
{
    private const string HttpName = "HTTP";

    private readonly IReadOnlyList<ListenAddress> _memcached;
    private readonly IReadOnlyList<ListenAddress> _resp;
    private readonly IReadOnlyList<ListenAddress> _both;

    private ServerPlan(
        ServerOptions options,
        IReadOnlyList<ListenAddress> memcached,
        IReadOnlyList<ListenAddress> resp,
        IReadOnlyList<ListenAddress> both,
        IReadOnlyList<ListenAddress> http)
    {
        Options = options;
        _memcached = memcached;
        _resp = resp;
        _both = both;
        Http = http;
    }

    /// <summary>Gets the options, including the store's file.</summary>
    public ServerOptions Options { get; }

    /// <summary>Gets whether the store is at the default location, whose folder is created if necessary.</summary>
    public bool HasDefaultStore { get; private init; }

    /// <summary>Gets the users of memcached's protocol; null for no authentication.</summary>
    public MemcachedCredentials? MemcachedUsers { get; private init; }

    /// <summary>Gets the keyspace events that are sent from the start.</summary>
    public EventClasses Events { get; private init; }

    /// <summary>Gets the users of RESP and their permissions.</summary>
    public RespUsers RespUsers { get; private init; } = RespUsers.NoLogin;

    /// <summary>Gets whether any address serves RESP, and whether any serves memcached's protocol.</summary>
    public (bool Resp, bool Memcached) Serves => (_resp.Count + _both.Count > 0, _memcached.Count + _both.Count > 0);

    /// <summary>Gets the addresses for HTTP.</summary>
    public IReadOnlyList<ListenAddress> Http { get; }

    public static ServerPlan Make(ServerOptions options, Func<string, string?> environment)
    {
        options.Limits.Validate();
        CheckNumbers(options);
        if (options.Memcached is null && options.Resp is null && options.Both is null)
        {
            throw new ServerException("Nothing would be served: every protocol is off. Give at least one an address.");
        }

        if (options.Tls is { CertificatePath.Length: 0 })
        {
            throw new ServerException("TLS needs a certificate: name its file with --tls-certificate.");
        }

        if (options is { RespPassword: not null, RespUsersPath: not null })
        {
            throw new ServerException("RESP has either one password or a file of users, not both: give the password to a user named default.");
        }

        if (!EventLetters.TryParse(options.NotifyKeyspaceEvents, out EventClasses events))
        {
            throw new ServerException(
                $"'{options.NotifyKeyspaceEvents}' names no keyspace events. Write K or E or both, and letters out of 'Ag$lshzxetdmn'.");
        }

        bool isMemcachedAuthenticated = options.MemcachedUsersPath is not null;
        bool isRespAuthenticated = (options.RespPassword ?? options.RespUsersPath) is not null;
        IReadOnlyList<ListenAddress> memcached = ParseAll(options.Memcached, "memcached", ServerOptions.MemcachedPort, options, isMemcachedAuthenticated);
        IReadOnlyList<ListenAddress> resp = ParseAll(options.Resp, "RESP", ServerOptions.RespPort, options, isRespAuthenticated);
        IReadOnlyList<ListenAddress> both = ParseAll(options.Both, "both protocols", ServerOptions.MemcachedPort, options, isMemcachedAuthenticated && isRespAuthenticated);
        IReadOnlyList<ListenAddress> http = ParseAll(options.Http, HttpName, ServerOptions.HttpPort, options, isAuthenticated: false);
        string path = options.IsEphemeral ? StorePlace.Ephemeral() : options.StorePath ?? StorePlace.Default(environment);
        if (options is { IsEphemeral: true, StorePath: not null })
        {
            throw new ServerException("A store that keeps nothing has no file: leave out either the file or --ephemeral.");
        }

        return new ServerPlan(options with { StorePath = path }, memcached, resp, both, http)
        {
            HasDefaultStore = options is { IsEphemeral: false, StorePath: null },
            Events = events,
            MemcachedUsers = options.MemcachedUsersPath is { } memcachedUsers ? MemcachedCredentials.Load(memcachedUsers) : null,
            RespUsers = options.RespPassword is { } password ? RespUsers.WithPassword(password)
                : options.RespUsersPath is { } respUsers ? RespUsers.Load(respUsers)
                : RespUsers.NoLogin,
        };
    }

    /// <summary>Returns the options of all listeners.</summary>
    public IReadOnlyList<ListenerOptions> Listeners(ServerProtocols protocols)
    {
        var listeners = new List<ListenerOptions>();
        Add("memcached", _memcached, protocols.Memcached);
        Add("resp", _resp, protocols.Resp);
        Add("memcached and resp", _both, new FirstByteSessionFactory(protocols.Memcached, protocols.Resp));
        return listeners;

        void Add(string name, IReadOnlyList<ListenAddress> addresses, SessionFactory sessions)
        {
            foreach (ListenAddress address in addresses)
            {
                listeners.Add(new ListenerOptions
                {
                    Name = name,
                    Address = address,
                    Sessions = sessions,
                    Tls = address.UnixPath is null ? Options.Tls : null,
                });
            }
        }
    }

    private static IReadOnlyList<ListenAddress> ParseAll(
        string? texts, string protocol, int port, ServerOptions options, bool isAuthenticated) =>
        texts is null ? [] : [.. texts.Split(',').Select(text => Parse(text.Trim(), protocol, port, options, isAuthenticated))];

    private static ListenAddress Parse(string text, string protocol, int port, ServerOptions options, bool isAuthenticated)
    {
        if (!ListenAddress.TryParse(text, port, out ListenAddress? address))
        {
            throw new ServerException($"'{text}' is no address for {protocol}. Write HOST:PORT, [IPV6]:PORT, *:PORT, PORT or unix:PATH.");
        }

        if (address.UnixPath is { } path)
        {
            address = ListenAddress.Unix(path, options.UnixMode);
        }

        bool isCertified = options.Tls?.ClientCertificates == ClientCertificateMode.Required;
        if (protocol == HttpName)
        {
            AddressGuard.CheckHttp(address, options.AllowsInsecure); // HTTP is served without TLS.
        }
        else
        {
            AddressGuard.Check(protocol, address, isAuthenticated || isCertified, options.Tls is not null, options.AllowsInsecure);
        }

        return address;
    }

    private static void CheckNumbers(ServerOptions options)
    {
        const int MostWorkers = 1024;
        if (options.Workers is < 0 or > MostWorkers)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.Workers, $"{nameof(ServerOptions)}.{nameof(ServerOptions.Workers)} must be 0 to {MostWorkers:N0}.");
        }

        if (!ServerOptions.IsMemcachedVersion(options.MemcachedVersion))
        {
            throw new ServerException($"'{options.MemcachedVersion}' is no version of memcached. Write three numbers, such as 1.6.18.");
        }

        if (options.MemcachedPrefixDelimiter is <= ' ' or > '~')
        {
            throw new ServerException("The prefix of a key ends at an ASCII character that keys can have.");
        }

        if (options.PinnedPrefixes.Count > PinnedKeys.MaxPrefixes
            || options.PinnedPrefixes.Any(prefix => prefix.Length is 0 or > MemcachedReader.MaxKeyBytes || prefix.Any(char.IsWhiteSpace)))
        {
            throw new ServerException(
                $"There are at most {PinnedKeys.MaxPrefixes} prefixes of pinned keys, each of 1 to {MemcachedReader.MaxKeyBytes} characters without spaces.");
        }

        if (options.PinnedBytes < 0)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.PinnedBytes, $"{nameof(ServerOptions)}.{nameof(ServerOptions.PinnedBytes)} must not be negative.");
        }

        if (options is { PinnedBytes: > 0, PinnedPrefixes.Count: 0 })
        {
            throw new ServerException("A limit of pinned entries needs their prefixes: name them with --pin, or leave out --pin-limit.");
        }

        if (options.Backlog is < 1 or > 1_000_000)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.Backlog, $"{nameof(ServerOptions)}.{nameof(ServerOptions.Backlog)} must be 1 to 1,000,000.");
        }

        if (options.MaxValueBytes is < 0 or > StoreLimits.MaxValueBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.MaxValueBytes,
                $"{nameof(ServerOptions)}.{nameof(ServerOptions.MaxValueBytes)} must be at most {ByteText.Of(StoreLimits.MaxValueBytes)}, not {ByteText.Of(options.MaxValueBytes)}.");
        }

        if (options.SlowThreshold < TimeSpan.Zero && options.SlowThreshold != Timeout.InfiniteTimeSpan)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.SlowThreshold,
                $"{nameof(ServerOptions)}.{nameof(ServerOptions.SlowThreshold)} must be zero or more, or infinite.");
        }

        if (options.MaxKeyBytes is < 1 or > KeySpace.MaxKeyBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.MaxKeyBytes,
                $"{nameof(ServerOptions)}.{nameof(ServerOptions.MaxKeyBytes)} must be 1 to {KeySpace.MaxKeyBytes:N0}, not {options.MaxKeyBytes:N0}.");
        }

        if (options.StopTimeout < TimeSpan.Zero || options.StopTimeout > TimeSpan.FromHours(1))
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.StopTimeout,
                $"{nameof(ServerOptions)}.{nameof(ServerOptions.StopTimeout)} must be zero to an hour.");
        }
    }
}
