using Cairn.Cli.Clients;

namespace Cairn.Cli.Arguments;

/// <summary>The argument and the options that select a server and authenticate with it.</summary>
internal sealed class ServerArguments
{
    /// <summary>The address of a server whose address is not given: memcached's port on this machine.</summary>
    public const string DefaultAddress = "127.0.0.1:11211";

    private const string PasswordVariable = "CAIRN_PASSWORD";

    private readonly Option<string?> _protocol = new("--protocol")
    {
        HelpName = "NAME",
        Description = "memcached, meta (memcached's meta commands) or resp. Default: the tool detects it, and uses memcached if the server has both.",
    };

    private readonly Option<string?> _user = new("--user") { HelpName = "NAME", Description = "The user name." };

    private readonly Option<string?> _password = new("--password")
    {
        HelpName = "TEXT",
        Description = $"The password. Default: the environment variable {PasswordVariable}, which other users of the machine cannot see.",
    };

    private readonly Flag _tls = new("--tls", "Use TLS. The options below imply it.");

    private readonly Option<string?> _authorities = new("--tls-authorities")
    {
        HelpName = "FILE",
        Description = "Certificate authorities in PEM form that can sign the server's certificate. Default: those of the system.",
    };

    private readonly Option<string?> _certificate = new("--tls-certificate")
    {
        HelpName = "FILE",
        Description = "The client certificate in PEM form, for a server that requests one.",
    };

    private readonly Option<string?> _key = new("--tls-key")
    {
        HelpName = "FILE",
        Description = "The certificate's key in PEM form. Default: in the certificate's file.",
    };

    private readonly Flag _anyServer = new("--tls-any-server", "Accept any certificate of the server. Only for tests.");

    public Argument<string?> Address { get; } = new("ADDRESS")
    {
        Description = $"The server: {ServerAddress.Form}.",
        Arity = ArgumentArity.ZeroOrOne,
    };

    public void AddTo(Command command)
    {
        command.Add(Address);
        AddOptionsTo(command);
    }

    public void AddOptionsTo(Command command)
    {
        foreach (Option option in (ReadOnlySpan<Option>)[_protocol, _user, _password, _tls, _authorities, _certificate, _key, _anyServer])
        {
            command.Add(option);
        }
    }

    /// <summary>Returns the server whose address is given; null if none is.</summary>
    /// <exception cref="ToolException">A store is given as well, the address is not valid, or a file cannot be used.</exception>
    public ServerTarget? Find(Invocation invocation, Option store) => invocation.Get(Address) is { } address ? Read(invocation, address, store) : null;

    /// <summary>Returns the selected server: the one whose address is given, or the default one if no store is given either. Null for a store.</summary>
    /// <exception cref="ToolException">A store is given as well, the address is not valid, or a file cannot be used.</exception>
    public ServerTarget? FindOrDefault(Invocation invocation, Option store) =>
        Find(invocation, store) ?? (invocation.FindStorePath() is null ? ReadDefault(invocation) : null);

    /// <summary>Returns the server whose address is given, or the default one.</summary>
    /// <exception cref="ToolException">The address is not valid, or a file cannot be used.</exception>
    public ServerTarget ReadOrDefault(Invocation invocation) =>
        invocation.Get(Address) is { } address ? Read(invocation, address) : ReadDefault(invocation);

    /// <inheritdoc cref="Find"/>
    public ServerTarget Read(Invocation invocation, string address, Option store) => invocation.IsGiven(store)
        ? throw ToolException.Usage("ADDRESS and --store exclude each other")
        : Read(invocation, address);

    /// <summary>Returns the selected server.</summary>
    /// <exception cref="ToolException">The address is not valid, or a file cannot be used.</exception>
    public ServerTarget Read(Invocation invocation, string address)
    {
        ServerAddress where = ServerAddress.Parse(address);
        string? password = invocation.Get(_password) ?? invocation.Console.GetEnvironmentVariable(PasswordVariable);
        if (invocation.Get(_user) is not null && password is null)
        {
            throw ToolException.Usage($"--user goes with --password, or with the environment variable {PasswordVariable}");
        }

        string? authorities = invocation.Get(_authorities);
        string? certificate = invocation.Get(_certificate);
        string? key = invocation.Get(_key);
        bool isAnyServer = invocation.Get(_anyServer);
        bool isTls = ServerAddress.IsSecureUrl(address) || invocation.Get(_tls) || isAnyServer || authorities is not null || certificate is not null || key is not null;
        return new ServerTarget
        {
            Address = where,
            Protocol = ReadProtocol(invocation.Get(_protocol)) ?? (ServerAddress.IsRespUrl(address) ? ServerProtocol.Resp : null),
            User = invocation.Get(_user),
            Password = string.IsNullOrEmpty(password) ? null : password,
            Tls = isTls ? ServerTarget.MakeTls(where, authorities, certificate, key, isAnyServer) : null,
        };
    }

    private ServerTarget ReadDefault(Invocation invocation) => Read(invocation, DefaultAddress) with { IsDefault = true };

    private static ServerProtocol? ReadProtocol(string? name) => name?.ToUpperInvariant() switch
    {
        null or "AUTO" => null,
        "MEMCACHED" => ServerProtocol.Memcached,
        "META" => ServerProtocol.Meta,
        "RESP" => ServerProtocol.Resp,
        _ => throw ToolException.Usage($"--protocol takes memcached, meta or resp, not '{name}'"),
    };
}
