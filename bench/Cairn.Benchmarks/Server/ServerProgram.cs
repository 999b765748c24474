using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Benchmarks.Server;

/// <summary>The address of a server: a loopback port or a Unix socket.</summary>
internal sealed record ServerAddress(int Port, string? UnixPath = null)
{
    public EndPoint EndPoint => UnixPath is null ? new IPEndPoint(IPAddress.Loopback, Port) : new UnixDomainSocketEndPoint(UnixPath);
}

/// <summary>Starts a kind of server with one thread for clients, and without writing to disk unless an option requires it.</summary>
/// <param name="Name">The name in reports.</param>
/// <param name="Path">The path of the program.</param>
/// <param name="Protocol">The protocol, for servers that speak only one.</param>
internal abstract record ServerProgram(string Name, string Path, WireProtocol Protocol)
{
    public bool IsCairn { get; init; }

    /// <summary>Gets the environment variables of the process.</summary>
    public virtual IReadOnlyDictionary<string, string> Environment { get; } = new Dictionary<string, string>();

    public abstract IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder);

    protected static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>The server that is measured.</summary>
/// <param name="Path">The path of the program, which is compiled ahead of time.</param>
/// <param name="RuntimeFolder">The folder of the .NET runtime.</param>
/// <param name="Io">The value of <c>--io</c>.</param>
/// <param name="LoopName">The name of that event loop in reports.</param>
internal sealed record CairnServerProgram(string Path, string RuntimeFolder, string Io, string LoopName)
    : ServerProgram($"Cairn ({LoopName})", Path, WireProtocol.Memcached)
{
    public override IReadOnlyDictionary<string, string> Environment { get; } =
        new Dictionary<string, string> { ["DOTNET_ROOT"] = RuntimeFolder };

    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder)
    {
        var where = address.UnixPath is { } path ? "unix:" + path : $"127.0.0.1:{Text(address.Port)}";
        return
        [
            "serve", "--store", StorePath(folder), "--io", Io, "--threads", "1",
            "--memcached", protocol == WireProtocol.Memcached ? where : "off", "--resp", protocol == WireProtocol.Resp ? where : "off",
        ];
    }

    /// <summary>Returns the path of the store's file in a server's folder.</summary>
    public static string StorePath(string folder) => System.IO.Path.Combine(folder, "server.cairn");
}

/// <summary>memcached, of this machine or another build.</summary>
internal sealed record MemcachedProgram(string Name, string Path) : ServerProgram(Name, Path, WireProtocol.Memcached)
{
    // Run as root, memcached requires a user name.
    private static readonly string[] _user = System.Environment.IsPrivilegedProcess ? ["-u", System.Environment.UserName] : [];

    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder) =>
    [
        // -R: the requests of one connection that are served at once. The default of 20 would interrupt every long pipeline.
        "-t", "1", "-m", "1024", "-c", "10000", "-R", "1000", .. _user,
        .. address.UnixPath is { } path ? (string[])["-s", path] : ["-l", "127.0.0.1", "-p", Text(address.Port), "-U", "0"],
    ];
}

/// <summary>Redis, Valkey, or another server with the same options.</summary>
internal sealed record RedisProgram(string Name, string Path) : ServerProgram(Name, Path, WireProtocol.Resp)
{
    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder) =>
    [
        "--bind", "127.0.0.1", "--port", Text(address.UnixPath is null ? address.Port : 0), "--save", string.Empty, "--appendonly", "no",
        "--io-threads", "1", "--maxclients", "10000", "--dir", folder,
        .. address.UnixPath is { } path ? (string[])["--unixsocket", path] : [],
    ];
}

/// <summary>Garnet, which has no option for one thread. An environment variable limits the runtime to one core.</summary>
internal sealed record GarnetProgram(string Name, string Path, string RuntimeFolder) : ServerProgram(Name, Path, WireProtocol.Resp)
{
    public override IReadOnlyDictionary<string, string> Environment { get; } = new Dictionary<string, string>
    {
        ["DOTNET_ROOT"] = RuntimeFolder,
        ["DOTNET_PROCESSOR_COUNT"] = "1",
    };

    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder) =>
        ["--bind", "127.0.0.1", "--port", Text(address.Port), "--memory", "2g", "--index", "256m"];
}

/// <summary>A server that the command line of the benchmark starts by a command line of its own.</summary>
/// <param name="Name">The name in reports.</param>
/// <param name="Path">The program.</param>
/// <param name="Protocol">The protocol that it speaks.</param>
/// <param name="Words">Its arguments, in which {port} stands for its port and {folder} for a folder of its own.</param>
internal sealed record CommandProgram(string Name, string Path, WireProtocol Protocol, IReadOnlyList<string> Words) : ServerProgram(Name, Path, Protocol)
{
    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder) =>
        address.UnixPath is null
            ? [.. Words.Select(word => word.Replace("{port}", Text(address.Port), StringComparison.Ordinal).Replace("{folder}", folder, StringComparison.Ordinal))]
            : throw new InvalidOperationException("its command line has no Unix socket.");
}

/// <summary>A server on the same engine that does nothing but read lines and send as many replies of the expected length.</summary>
/// <param name="RuntimeFolder">The folder of the .NET runtime.</param>
internal sealed record EchoProgram(string RuntimeFolder)
    : ServerProgram("echo on Cairn's engine", System.IO.Path.Combine(RuntimeFolder, "dotnet"), WireProtocol.Memcached)
{
    public override IReadOnlyList<string> Arguments(ServerAddress address, WireProtocol protocol, string folder) =>
        [System.IO.Path.Combine(AppContext.BaseDirectory, "Cairn.Benchmarks.dll"), EchoServer.Command, Text(address.Port)];
}
