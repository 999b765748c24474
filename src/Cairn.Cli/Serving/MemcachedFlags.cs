using Cairn.Server;

namespace Cairn.Cli.Serving;

// The flags of memcached that have no counterpart among the settings. With them the server can replace memcached in a unit file or script
// without changes. A flag is another form of a setting, and takes precedence over it. Flags without a meaning here are named in one warning.
internal sealed class MemcachedFlags
{
    /// <summary>The environment variable of memcached that names a file of users for SASL.</summary>
    public const string UsersVariable = "MEMCACHED_SASL_PWDB";

    private const string LettersWithValue = "acmpsUlufntDRbBIYeoNP";
    private const string LettersWithoutValue = "AZMkhiVrvdLCSFXW";
    private const int MegabyteShift = 20;
    private const int KilobyteShift = 10;

    // The names of -o that are known and have no meaning here.
    private static readonly HashSet<string> s_withoutMeaning =
    [
        "maxconns_fast", "no_maxconns_fast", "hashpower", "no_hashexpand", "slab_reassign", "no_slab_reassign", "slab_automove", "no_slab_automove",
        "slab_automove_ratio", "slab_automove_window", "slab_automove_freeratio", "slab_automove_version", "slab_sizes", "slab_chunk_max",
        "tail_repair_time", "hash_algorithm", "lru_crawler", "no_lru_crawler", "lru_crawler_sleep", "lru_crawler_tocrawl", "lru_maintainer",
        "no_lru_maintainer", "hot_lru_pct", "warm_lru_pct", "hot_max_factor", "warm_max_factor", "temporary_ttl", "worker_logbuf_size", "track_sizes",
        "inline_ascii_resp", "no_inline_ascii_resp", "no_chunked_items", "modern", "no_modern", "drop_privileges", "no_drop_privileges",
        "relaxed_privileges", "sock_cookie_id", "resp_obj_mem_limit", "ssl_keyformat", "ssl_ciphers", "ssl_wbuf_size", "ssl_session_cache",
        "ssl_kernel_tls", "ssl_min_version", "ext_path", "ext_page_size", "ext_wbuf_size", "ext_threads", "ext_item_size", "ext_item_age", "ext_low_ttl",
        "ext_drop_unread", "ext_recache_rate", "ext_compact_under", "ext_drop_under", "ext_max_frag", "ext_max_sleep", "ext_page_count",
        "ext_io_depth", "ext_io_max_mbps",
    ];

    private readonly ValueOption<int> _port = new(
        "-p", "PORT", "The port of memcached's protocol; 0 for no port, -1 for any that is free.", "a number from -1 to 65535", TryPort);

    private readonly Option<string[]> _listen = new("-l") { HelpName = "HOST", Description = "The address, or HOST:PORT, of memcached's protocol; several separated by commas." };
    private readonly Option<string?> _socket = new("-s") { HelpName = "PATH", Description = "Speak memcached's protocol on this Unix socket, and on no port." };
    private readonly ValueOption<int> _memory = new(
        "-m", "MIB", "The capacity in MiB.", "a number from 1 to 1048576",
        static (string text, out int mebibytes) =>
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out mebibytes) && mebibytes is >= 1 and <= 1 << MegabyteShift);

    private readonly Option<string?> _memoryFile = new("-e") { HelpName = "FILE", Description = "The store's file: the same as --store." };
    private readonly Flag _tls = new("-Z", "Use TLS, with the files that -o ssl_chain_cert=FILE and -o ssl_key=FILE name.");
    private readonly Flag _sasl = new("-S", $"Only the binary protocol, with users that -Y or the environment variable {UsersVariable} names.");
    private readonly Flag _cores = new("-r", "Raise the limit of core files to the allowed maximum.");
    private readonly Option<string[]> _extended = new("-o") { HelpName = "NAME=VALUE", Description = "idle_timeout=SECONDS, read_buf_mem_limit=MIB, watcher_logbuf_size=KIB, ssl_chain_cert, ssl_key, ssl_ca_cert and ssl_verify_mode have a meaning; others are accepted." };
    private readonly ValueOption<int> _udp = new("-U", "PORT", "Accepted; UDP is not offered.", "a number from 0 to 65535", TryPort);
    private readonly Option<string?> _user = new("-u") { HelpName = "USER", Description = "Accepted; start the server as the user that it should run as." };
    private readonly ValueOption<double> _factor = new(
        "-f", "FACTOR", "Accepted; there are no slab classes.", "a number above 1",
        static (string text, out double factor) => double.TryParse(text, CultureInfo.InvariantCulture, out factor) && factor > 1);

    private readonly ValueOption<int> _chunk = new("-n", "BYTES", "Accepted; entries take the room that they need.", "a number from 1", TryPositive);
    private readonly Flag _largePages = new("-L", "Accepted; the system decides about large pages.");
    private readonly ValueOption<int> _napi = new("-N", "N", "Accepted; connections go to the thread with the fewest.", "a number from 1", TryPositive);

    public MemcachedFlags()
    {
        _port.Aliases.Add("--port");
        _listen.Aliases.Add("--listen");
        _socket.Aliases.Add("--unix-socket");
        _memory.Aliases.Add("--memory-limit");
        _memoryFile.Aliases.Add("--memory-file");
        _tls.Aliases.Add("--enable-ssl");
        _sasl.Aliases.Add("--enable-sasl");
        _cores.Aliases.Add("--enable-coredumps");
        _extended.Aliases.Add("--extended");
        _udp.Aliases.Add("--udp-port");
        _user.Aliases.Add("--user");
        _factor.Aliases.Add("--slab-growth-factor");
        _chunk.Aliases.Add("--slab-min-size");
        _largePages.Aliases.Add("--enable-largepages");
        _napi.Aliases.Add("--napi_ids");
    }

    public IEnumerable<Option> Options =>
        [_port, _listen, _socket, _memory, _memoryFile, _tls, _sasl, _cores, _extended, _udp, _user, _factor, _chunk, _largePages, _napi];

    /// <summary>Splits letters as getopt does: <c>-m64</c> is <c>-m 64</c>, and <c>-kd</c> is <c>-k -d</c>. The value of a letter may begin
    /// with a hyphen.</summary>
    public static IReadOnlyList<string> Split(IReadOnlyList<string> args)
    {
        var words = new List<string>();
        for (int i = 0; i < args.Count; i++)
        {
            string word = args[i];
            if (word == "--")
            {
                words.AddRange(args.Skip(i));
                break;
            }

            if (word.Length < 2 || word[0] != '-' || word[1] == '-')
            {
                words.Add(word);
                continue;
            }

            int last = 1;
            while (last < word.Length - 1 && LettersWithoutValue.Contains(word[last], StringComparison.Ordinal))
            {
                last++;
            }

            bool hasValue = LettersWithValue.Contains(word[last], StringComparison.Ordinal);
            if (!hasValue && (last < word.Length - 1 || !LettersWithoutValue.Contains(word[last], StringComparison.Ordinal)))
            {
                words.Add(word); // The parser says what is wrong with it.
                continue;
            }

            words.AddRange(word[1..(hasValue ? last : word.Length)].Distinct().Select(letter => $"-{letter}"));
            if (hasValue)
            {
                string? value = last < word.Length - 1 ? word[(last + 1)..] : i + 1 < args.Count ? args[++i] : null;
                words.Add(value is null ? $"-{word[last]}" : $"-{word[last]}={value}");
            }
        }

        return words;
    }

    /// <summary>Applies the flags that were given.</summary>
    /// <param name="invocation">The command line.</param>
    /// <param name="warn">Receives a warning about the flags that are accepted and have no effect.</param>
    /// <param name="options">The options to change.</param>
    /// <exception cref="ToolException">A flag requests an unsupported feature.</exception>
    public void Apply(Invocation invocation, Action<string> warn, ref ServerOptions options)
    {
        if (invocation.Get(_memory) is { } mebibytes)
        {
            options = options with { CapacityBytes = (long)mebibytes << MegabyteShift };
        }

        if (invocation.Get(_memoryFile) is { } file)
        {
            options = options with { StorePath = file };
        }

        options = options with { Memcached = Address(invocation, options.Memcached) };
        List<string> idle = [];
        TlsOptions tls = options.Tls ?? new TlsOptions { CertificatePath = "" };
        foreach (string extended in (invocation.Get(_extended) ?? []).SelectMany(text => text.Split(',')))
        {
            if (!TryApplyExtended(extended, ref options, ref tls))
            {
                idle.Add($"-o {extended}");
            }
        }

        ApplyTls(invocation, tls, idle, ref options);
        ApplySasl(invocation, ref options);
        if (invocation.Get(_cores) && !DescriptorLimit.TryRaiseCoreLimit())
        {
            warn("-r has no effect: the system does not allow core files.");
        }

        WarnOfIdle(invocation, idle, warn);
    }

    private static bool TryPort(string text, out int port) =>
        int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out port) && port is >= -1 and <= ushort.MaxValue;

    private static bool TryPositive(string text, out int number) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number) && number > 0;

    // Returns false if the name is known and has no meaning here.
    private static bool TryApplyExtended(string text, ref ServerOptions options, ref TlsOptions tls)
    {
        int equals = text.IndexOf('=', StringComparison.Ordinal);
        string name = equals < 0 ? text : text[..equals];
        string? value = equals < 0 ? null : text[(equals + 1)..];
        switch (name)
        {
            case "idle_timeout":
                int seconds = Number(name, "SECONDS", value);
                TimeSpan time = seconds == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(seconds);
                options = options with { Limits = options.Limits with { IdleTimeout = time } };
                return true;

            case "read_buf_mem_limit":
                int mebibytes = Number(name, "MIB", value);
                options = mebibytes == 0
                    ? options
                    : options with { Limits = options.Limits with { MaxBufferBytes = (long)mebibytes << MegabyteShift } };
                return true;

            case "watcher_logbuf_size":
                int kibibytes = Math.Min(Number(name, "KIB", value), ServerOptions.MaxWatcherBytes >> KilobyteShift);
                options = options with { WatcherBytes = Math.Max(1, kibibytes) << KilobyteShift };
                return true;

            case "ssl_chain_cert":
                tls = tls with { CertificatePath = value ?? "" };
                return true;

            case "ssl_key":
                tls = tls with { KeyPath = value };
                return true;

            case "ssl_ca_cert":
                tls = tls with { ClientAuthoritiesPath = value };
                return true;

            case "ssl_verify_mode":
                tls = tls with
                {
                    ClientCertificates = Number(name, "MODE", value) switch
                    {
                        0 => ClientCertificateMode.None,
                        1 => ClientCertificateMode.Optional,
                        2 or 3 => ClientCertificateMode.Required,
                        _ => throw ToolException.Usage($"-o {name} takes 0, 1, 2 or 3, not '{value}'"),
                    },
                };
                return true;

            case "hash_algorithm" when value is not ("jenkins" or "murmur3" or "xxh3"):
                throw ToolException.Usage($"-o {name} takes jenkins, murmur3 or xxh3, not '{value}'");

            case "proxy_config" or "proxy_arg" or "proxy_uring" or "proxy_memprofile":
                throw ToolException.Usage($"-o {name}: this server is no proxy");

            default:
                return s_withoutMeaning.Contains(name)
                    ? false
                    : throw ToolException.Usage($"-o has no suboption '{name}' in memcached 1.6");
        }
    }

    private static int Number(string name, string what, string? text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
            ? number
            : throw ToolException.Usage($"-o {name}={what} takes a number, not '{text}'");

    private void ApplyTls(Invocation invocation, TlsOptions tls, List<string> idle, ref ServerOptions options)
    {
        if (!invocation.Get(_tls))
        {
            if (options.Tls is null && tls != new TlsOptions { CertificatePath = "" })
            {
                idle.Add("-o ssl_... without -Z");
            }

            return;
        }

        if (tls.CertificatePath.Length == 0)
        {
            throw ToolException.Usage("-Z needs a certificate: name its file with -o ssl_chain_cert=FILE");
        }

        options = options with { Tls = tls };
    }

    private void ApplySasl(Invocation invocation, ref ServerOptions options)
    {
        if (!invocation.Get(_sasl))
        {
            return;
        }

        if (options.MemcachedWireFormat == MemcachedWireFormat.Text)
        {
            throw ToolException.Usage("-S needs the binary protocol, and -B allows only ascii");
        }

        options = options with
        {
            MemcachedWireFormat = MemcachedWireFormat.Binary,
            MemcachedUsersPath = options.MemcachedUsersPath ?? invocation.Console.GetEnvironmentVariable(UsersVariable)
                ?? throw ToolException.Usage($"-S needs users: name a file of USER:PASSWORD lines with -Y, or in the environment variable {UsersVariable}"),
        };
    }

    private void WarnOfIdle(Invocation invocation, List<string> idle, Action<string> warn)
    {
        foreach (Option option in (ReadOnlySpan<Option>)[_factor, _chunk, _largePages, _napi])
        {
            if (invocation.IsGiven(option))
            {
                idle.Add(option.Name);
            }
        }

        if (invocation.Get(_udp) is > 0)
        {
            idle.Add("-U (UDP is not offered)");
        }

        if (invocation.Get(_user) is { } user && user != Environment.UserName)
        {
            idle.Add($"-u (the server remains {Environment.UserName}; start it as {user}, as service managers do with User=)");
        }

        if (idle.Count > 0)
        {
            warn($"accepted for memcached's sake, without an effect: {string.Join(", ", idle)}");
        }
    }

    private string? Address(Invocation invocation, string? otherwise)
    {
        if (invocation.Get(_socket) is { } path)
        {
            return $"unix:{path}";
        }

        int? port = invocation.Get(_port);
        string[] hosts = invocation.Get(_listen) ?? [];
        if (port is null && hosts.Length == 0)
        {
            return otherwise;
        }

        if (port == 0)
        {
            return null;
        }

        int known = port is -1 ? 0 : port ?? ServerOptions.MemcachedPort;
        return string.Join(',', (hosts.Length == 0 ? ["127.0.0.1"] : hosts).SelectMany(host => host.Split(',')).Select(one => WithPort(one.Trim(), known)));
    }

    // IPv6 addresses contain colons. As in memcached, they need brackets if a port follows.
    private static string WithPort(string host, int port)
    {
        bool isBracketed = host.StartsWith('[');
        int colons = host.Count(c => c == ':');
        bool hasPort = isBracketed ? host.Contains("]:", StringComparison.Ordinal) : colons == 1;
        string wrapped = !isBracketed && colons > 1 ? $"[{host}]" : host;
        return hasPort ? host : string.Create(CultureInfo.InvariantCulture, $"{wrapped}:{port}");
    }
}
