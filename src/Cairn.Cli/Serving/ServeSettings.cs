using Cairn.Server;

namespace Cairn.Cli.Serving;

/// <summary>
/// The table of all settings of a server. The options of the command line, the environment variables, the file and the reference
/// documentation follow from it.
/// </summary>
internal static class ServeSettings
{
    private const string AddressForm = "HOST:PORT, PORT, [IPV6]:PORT, unix:PATH, several of them separated by commas, or off";
    private const string SwitchForm = "on or off";
    private const long LeastValueBytes = 1 << 10; // memcached's minimum.

    // The letters are those of memcached, so that the server can replace it in a script or unit file.
    public static IReadOnlyList<ServeSetting> Create() =>
    [
        .. In(
            "Store",
            new("ephemeral", null, "Keep nothing: the store is in memory and ends with the server.", SwitchForm,
                Switch((options, isOn) => options with { IsEphemeral = isOn })),
            new("capacity", "SIZE", "Size of the store's file if it is created. Default 1 GiB.", ByteSize.Form,
                Size((options, bytes) => options with { CapacityBytes = bytes })),
            new("max-capacity", "SIZE", "Size to which the file can grow before entries are evicted. Default: the file does not grow.", ByteSize.Form,
                Size((options, bytes) => options with { MaxCapacityBytes = bytes })),
            new("no-eviction", null, "Refuse writes when the store is full, and evict nothing. Other processes that have the store open still evict.", SwitchForm,
                Switch((options, isOn) => options with { EvictsEntries = !isOn }), "-M", "--disable-evictions"),
            new("pin", "PREFIXES", "Keep the entries whose keys begin with one of these prefixes: they are not evicted. Entries that were stored before are not found.", "prefixes separated by commas",
                Text((options, prefixes) => options with { PinnedPrefixes = prefixes.Split(',') })),
            new("pin-limit", "SIZE", "Bytes that pinned entries can take, at most half of the store. A write beyond that is an error. Only with --pin. Default: a quarter of the store.", ByteSize.Form,
                Size((options, bytes) => options with { PinnedBytes = bytes })),
            new("lock-memory", null, "Lock the store in memory, so that the system never swaps it out.", SwitchForm,
                Switch((options, isOn) => options with { LocksMemory = isOn }), "-k")),
        .. In(
            "Addresses",
            new("memcached", "ADDRESS", "Addresses of the memcached protocol. Default 127.0.0.1:11211.", AddressForm,
                Address((options, address) => options with { Memcached = address })),
            new("resp", "ADDRESS", "Addresses of RESP, the protocol of Redis. Default 127.0.0.1:6379.", AddressForm,
                Address((options, address) => options with { Resp = address })),
            new("both", "ADDRESS", "Addresses of both protocols, which the first byte distinguishes. Default off.", AddressForm,
                Address((options, address) => options with { Both = address })),
            new("unix", "PATH", "Serve both protocols on this Unix socket too. The same as --both unix:PATH.", "a file",
                Text((options, path) => options with { Both = options.Both is { } others ? $"{others},unix:{path}" : $"unix:{path}" })),
            new("unix-mode", "OCTAL", "Permissions of Unix sockets. Default 600: only the owner can connect.", "permissions in the form of chmod, such as 660", UnixMode, "-a", "--unix-mask"),
            new("http", "ADDRESS", "Addresses of the dashboard, metrics and health over HTTP. Default 127.0.0.1:8080, or off if that address is in use.", AddressForm,
                Address((options, address) => options with { Http = address, IsHttpOptional = false })),
            new("http-names", "NAMES", "Host names of the dashboard, for example behind a proxy, in addition to addresses and localhost.", "names separated by commas",
                Text((options, names) => options with { HttpNames = names })),
            new("insecure", null, "Allow an address that other machines can reach, without users or without TLS.", SwitchForm,
                Switch((options, isOn) => options with { AllowsInsecure = isOn })),
            new("backlog", "N", "Connections that can wait to be accepted. The kernel allows net.core.somaxconn at most. Default 4096.", "a number from 1 to 1000000",
                Number(1, 1_000_000, (options, count) => options with { Backlog = (int)count }), "-b", "--listen-backlog")),
        .. In(
            "Users and encryption",
            new("memcached-users", "FILE", "Users of the memcached protocol: one USER:PASSWORD per line. Default: no login.", "a file",
                Text((options, path) => options with { MemcachedUsersPath = path }), "-Y", "--auth-file"),
            new("resp-password", "TEXT", "The password of RESP clients. Other users can see command lines, so set it in the environment or the configuration file.", "a text",
                Text((options, password) => options with { RespPassword = password })),
            new("resp-users", "FILE", "Users of RESP: one NAME PASSWORD read-only|read-write [PREFIX] per line. Default: no login.", "a file",
                Text((options, path) => options with { RespUsersPath = path })),
            new("tls-certificate", "FILE", "Certificate in PEM form. Every TCP port then uses TLS 1.2 or later. The server reads the file again when it changes.", "a file",
                Text((options, path) => options with { Tls = Tls(options) with { CertificatePath = path } })),
            new("tls-key", "FILE", "The certificate's key in PEM form. Default: in the certificate's file.", "a file",
                Text((options, path) => options with { Tls = Tls(options) with { KeyPath = path } })),
            new("tls-clients", "MODE", "Whether clients need certificates: none, optional or required. Default none.", "none, optional or required", TlsClients),
            new("tls-authorities", "FILE", "Certificate authorities in PEM form that can sign clients' certificates. Default: those of the system.", "a file",
                Text((options, path) => options with { Tls = Tls(options) with { ClientAuthoritiesPath = path } }))),
        .. In(
            "Limits",
            new("max-connections", "N", "Maximum number of connections. Default 10000.", "a number from 1 to 1000000",
                Number(1, 1_000_000, (options, count) => options with { Limits = options.Limits with { MaxConnections = (int)count } }), "-c", "--conn-limit"),
            new("max-value", "SIZE", "The longest value that clients can set. Default: the limit of the store, at most 64 MiB.", $"{ByteSize.Form}, from 1KiB",
                Size((options, bytes) => options with { MaxValueBytes = (int)Math.Min(bytes, int.MaxValue) }, LeastValueBytes), "-I", "--max-item-size"),
            new("max-key", "BYTES", "The longest key of RESP clients. Default 65536. Keys of the memcached protocol have at most 250 bytes.", "a number from 1 to 65536",
                Number(1, 65_536, (options, bytes) => options with { MaxKeyBytes = (int)bytes })),
            new("max-request", "SIZE", "The longest request with its values, and the longest queue of MULTI. Default 65 MiB.", ByteSize.Form,
                Size((options, bytes) => options with { Limits = options.Limits with { MaxInputBytesPerConnection = (int)Math.Min(bytes, int.MaxValue) } })),
            new("max-waiting", "SIZE", "Maximum size of the messages that wait for a connection that does not read, and of a reply of EXEC. A reply of EXEC has at most 16 MiB beside its longest value. Default 128 MiB.", ByteSize.Form,
                Size((options, bytes) => options with { Limits = options.Limits with { MaxOutputBytesPerConnection = (int)Math.Min(bytes, int.MaxValue) } })),
            new("buffer-memory", "SIZE", "Memory for the buffers of all connections. Replies wait while it is used up. Default 512 MiB.", ByteSize.Form,
                Size((options, bytes) => options with { Limits = options.Limits with { MaxBufferBytes = bytes } })),
            new("requests-per-turn", "N", "Requests of one connection before other connections are served. Default 256.", "a number from 1 to 1000000",
                Number(1, 1_000_000, (options, count) => options with { Limits = options.Limits with { MaxRequestsPerTurn = (int)count } }), "-R", "--max-reqs-per-event"),
            new("idle-timeout", "DURATION", "How long a connection can be idle. Default: unlimited.", DurationForm,
                Time((options, time) => options with { Limits = options.Limits with { IdleTimeout = time } })),
            new("request-timeout", "DURATION", "How long a request can take to arrive. Default 1m.", DurationForm,
                Time((options, time) => options with { Limits = options.Limits with { RequestTimeout = time } })),
            new("slow-reader-timeout", "DURATION", "How long a client can take to read 64 KiB of waiting replies. Default 1m.", DurationForm,
                Time((options, time) => options with { Limits = options.Limits with { SlowReaderTimeout = time } })),
            new("stop-timeout", "DURATION", "How long received requests can take when the server stops. Default 5s.", DurationForm,
                Time((options, time) => options with { StopTimeout = time }))),
        .. In(
            "Threads",
            new("threads", "N", "Threads that serve connections. Default: one per core.", "a number from 1 to 1024",
                Number(1, 1024, (options, count) => options with { Workers = (int)count }), "-t"),
            new("io", "KIND", "The kernel interface: auto, uring, epoll or sockets. Default auto.", "auto, uring, epoll or sockets", Io)),
        .. In(
            "Memcached protocol",
            new("memcached-protocol", "NAME", "The forms of memcached's protocol that clients can use: auto, ascii or binary. Default auto: both.", "auto, ascii or binary", WireFormat, "-B", "--protocol"),
            new("memcached-version", "VERSION", "The version of memcached that clients see. Default 1.6.45.", "three numbers, such as 1.6.18", Version),
            new("no-flush", null, "Refuse flush_all of the memcached protocol.", SwitchForm,
                Switch((options, isOn) => options with { AllowsFlush = !isOn }), "-F", "--disable-flush-all"),
            new("allow-shutdown", null, "Accept shutdown of the memcached protocol.", SwitchForm,
                Switch((options, isOn) => options with { AllowsShutdown = isOn }), "-A", "--enable-shutdown"),
            new("no-dump", null, "Refuse to list keys over the memcached protocol.", SwitchForm,
                Switch((options, isOn) => options with { AllowsDump = !isOn }), "-X", "--disable-dumping"),
            new("no-watch", null, "Refuse watch of the memcached protocol.", SwitchForm,
                Switch((options, isOn) => options with { AllowsWatch = !isOn }), "-W", "--disable-watch"),
            new("no-versions", null, "Send no versions of entries to clients of memcached. Then cas stores if the entry exists.", SwitchForm,
                Switch((options, isOn) => options with { TellsVersions = !isOn }), "-C", "--disable-cas"),
            new("prefix-delimiter", "CHARACTER", "Count the requests of memcached clients by the part of the key before this character (stats detail dump). Default: a colon, once a client sends stats detail on.", "one ASCII character",
                PrefixDelimiter, "-D")),
        .. In(
            "Events and slow requests",
            new("slow", "DURATION", "Requests that take at least this long go to the slow log and the log. Default 10ms.", SlowForm, Slow),
            new("notify-keyspace-events", "LETTERS", "Keyspace events for subscribers, with the letters of Redis. Default: none.",
                "K or E or both, and letters out of Ag$lshzxetdmn", Events)),
    ];

    private static IEnumerable<ServeSetting> In(string group, params IEnumerable<ServeSetting> settings)
    {
        foreach (ServeSetting setting in settings)
        {
            setting.Group = group;
            yield return setting;
        }
    }

    private static string DurationForm => Duration.Form;

    private static string SlowForm => $"{Duration.Form}, or off";

    private static bool Slow(string text, ref ServerOptions options)
    {
        if (text.Equals("off", StringComparison.OrdinalIgnoreCase))
        {
            options = options with { SlowThreshold = Timeout.InfiniteTimeSpan };
            return true;
        }

        if (!Duration.TryParse(text, out TimeSpan time))
        {
            return false;
        }

        options = options with { SlowThreshold = time };
        return true;
    }

    // Checked later with the other options. That error lists the valid letters.
    private static bool Events(string text, ref ServerOptions options)
    {
        options = options with { NotifyKeyspaceEvents = text };
        return true;
    }

    private static TlsOptions Tls(ServerOptions options) => options.Tls ?? new TlsOptions { CertificatePath = "" };

    private static SettingReader Switch(Func<ServerOptions, bool, ServerOptions> set) => (string text, ref ServerOptions options) =>
    {
        bool? isOn = text.ToUpperInvariant() switch
        {
            "ON" or "TRUE" or "YES" or "1" or "" => true,
            "OFF" or "FALSE" or "NO" or "0" => false,
            _ => null,
        };
        if (isOn is { } known)
        {
            options = set(options, known);
        }

        return isOn is not null;
    };

    private static SettingReader Size(Func<ServerOptions, long, ServerOptions> set, long least = 0) => (string text, ref ServerOptions options) =>
    {
        if (!ByteSize.TryParse(text, out long bytes) || bytes < least)
        {
            return false;
        }

        options = set(options, bytes);
        return true;
    };

    private static SettingReader Time(Func<ServerOptions, TimeSpan, ServerOptions> set) => (string text, ref ServerOptions options) =>
    {
        if (!Duration.TryParse(text, out TimeSpan time))
        {
            return false;
        }

        // Zero means no limit, because a limit of zero would end everything at once.
        options = set(options, time == TimeSpan.Zero ? Timeout.InfiniteTimeSpan : time);
        return true;
    };

    private static SettingReader Number(long least, long most, Func<ServerOptions, long, ServerOptions> set) => (string text, ref ServerOptions options) =>
    {
        if (!long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long number) || number < least || number > most)
        {
            return false;
        }

        options = set(options, number);
        return true;
    };

    private static SettingReader Text(Func<ServerOptions, string, ServerOptions> set) => (string text, ref ServerOptions options) =>
    {
        if (text.Length == 0)
        {
            return false;
        }

        options = set(options, text);
        return true;
    };

    private static SettingReader Address(Func<ServerOptions, string?, ServerOptions> set) => (string text, ref ServerOptions options) =>
    {
        if (text.Length == 0)
        {
            return false;
        }

        options = set(options, text.Equals("off", StringComparison.OrdinalIgnoreCase) ? null : text);
        return true;
    };

    private static bool UnixMode(string text, ref ServerOptions options)
    {
        const int Digits = 3;
        if (text.Length is < Digits or > Digits + 1 || text.Any(digit => digit is < '0' or > '7'))
        {
            return false;
        }

        options = options with { UnixMode = (UnixFileMode)Convert.ToInt32(text, 8) };
        return true;
    }

    private static bool Io(string text, ref ServerOptions options)
    {
        IoKind? kind = text.ToUpperInvariant() switch
        {
            "AUTO" => IoKind.Auto,
            "URING" => IoKind.Uring,
            "EPOLL" => IoKind.Epoll,
            "SOCKETS" => IoKind.Sockets,
            _ => null,
        };
        if (kind is { } known)
        {
            options = options with { Io = known };
        }

        return kind is not null;
    }

    private static bool WireFormat(string text, ref ServerOptions options)
    {
        MemcachedWireFormat? format = text.ToUpperInvariant() switch
        {
            "AUTO" => MemcachedWireFormat.Auto,
            "ASCII" => MemcachedWireFormat.Text,
            "BINARY" => MemcachedWireFormat.Binary,
            _ => null,
        };
        if (format is { } known)
        {
            options = options with { MemcachedWireFormat = known };
        }

        return format is not null;
    }

    private static bool Version(string text, ref ServerOptions options)
    {
        options = options with { MemcachedVersion = text };
        return ServerOptions.IsMemcachedVersion(text);
    }

    private static bool PrefixDelimiter(string text, ref ServerOptions options)
    {
        options = options with { MemcachedPrefixDelimiter = text.Length == 1 ? text[0] : default };
        return text.Length == 1 && text[0] is > ' ' and < '\x7F';
    }

    private static bool TlsClients(string text, ref ServerOptions options)
    {
        ClientCertificateMode? mode = text.ToUpperInvariant() switch
        {
            "NONE" => ClientCertificateMode.None,
            "OPTIONAL" => ClientCertificateMode.Optional,
            "REQUIRED" => ClientCertificateMode.Required,
            _ => null,
        };
        if (mode is { } known)
        {
            options = options with { Tls = Tls(options) with { ClientCertificates = known } };
        }

        return mode is not null;
    }
}
