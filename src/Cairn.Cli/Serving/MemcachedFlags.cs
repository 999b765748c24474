using System.CommandLine;
using System.Globalization;
using Cairn.Cli.Arguments;
using Cairn.Server;

namespace Cairn.Cli.Serving;

// The flags of memcached that have no counterpart among the settings. With them the server can replace memcached in a unit file or script
// without changes. A flag is another form of a setting, and takes precedence over it.
internal sealed class MemcachedFlags
{
    private const int MegabyteShift = 20;
    private const string IdleTimeout = "idle_timeout=";

    private readonly ValueOption<int> _port = new(
        "-p", "PORT", "memcached's: the port of memcached's protocol; 0 for no port.", "a number from 0 to 65535", TryPort);

    private readonly Option<string?> _listen = new("-l") { HelpName = "HOST", Description = "memcached's: the address, or HOST:PORT, of memcached's protocol; several with commas between." };
    private readonly Option<string?> _socket = new("-s") { HelpName = "PATH", Description = "memcached's: speak memcached's protocol on this Unix socket, and on no port." };
    private readonly ValueOption<int> _memory = new(
        "-m", "MIB", "memcached's: the capacity in MiB.", "a number from 1 to 1048576",
        static (string text, out int mebibytes) =>
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out mebibytes) && mebibytes is >= 1 and <= 1 << MegabyteShift);

    private readonly ValueOption<int> _udp = new("-U", "PORT", "memcached's: UDP, which is not offered; 0 is accepted.", "a number from 0 to 65535", TryPort);
    private readonly Flag _noEviction = new("-M", "memcached's: accepted; the store evicts nevertheless.");
    private readonly Option<string?> _user = new("-u") { HelpName = "USER", Description = "memcached's: accepted; start the server as the user that it should be." };
    private readonly Option<string[]> _extended = new("-o") { HelpName = "NAME=VALUE", Description = "memcached's: idle_timeout=SECONDS has a meaning; others are accepted." };

    public IEnumerable<Option> Options => [_port, _listen, _socket, _memory, _udp, _noEviction, _user, _extended];

    /// <summary>Applies the flags that were given.</summary>
    /// <param name="invocation">The command line.</param>
    /// <param name="warn">Receives a warning for each flag that is accepted and has no effect.</param>
    /// <param name="options">The options to change.</param>
    /// <exception cref="ToolException">A flag requests an unsupported feature.</exception>
    public void Apply(Invocation invocation, Action<string> warn, ref ServerOptions options)
    {
        if (invocation.Get(_udp) is > 0)
        {
            throw ToolException.Usage("-U takes 0: UDP is not offered");
        }

        if (invocation.Get(_memory) is { } mebibytes)
        {
            options = options with { CapacityBytes = (long)mebibytes << MegabyteShift };
        }

        options = options with { Memcached = Address(invocation, options.Memcached) };
        foreach (string extended in (invocation.Get(_extended) ?? []).SelectMany(text => text.Split(',')))
        {
            ApplyExtended(extended, warn, ref options);
        }

        if (invocation.Get(_noEviction))
        {
            warn("-M does nothing: when the store is full, the entries used least give way.");
        }

        if (invocation.Get(_user) is { } user && user != Environment.UserName)
        {
            warn($"-u does nothing: the server remains {Environment.UserName}. Start it as {user}, as service managers do (User=).");
        }
    }

    private static bool TryPort(string text, out int port) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out port) && port <= ushort.MaxValue;

    private static void ApplyExtended(string text, Action<string> warn, ref ServerOptions options)
    {
        if (!text.StartsWith(IdleTimeout, StringComparison.Ordinal))
        {
            warn($"-o {text} does nothing here.");
            return;
        }

        if (!int.TryParse(text.AsSpan(IdleTimeout.Length), NumberStyles.None, CultureInfo.InvariantCulture, out int seconds))
        {
            throw ToolException.Usage($"-o {IdleTimeout}SECONDS takes a number, not '{text[IdleTimeout.Length..]}'");
        }

        TimeSpan time = seconds == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(seconds);
        options = options with { Limits = options.Limits with { IdleTimeout = time } };
    }

    private string? Address(Invocation invocation, string? otherwise)
    {
        if (invocation.Get(_socket) is { } path)
        {
            return $"unix:{path}";
        }

        int? port = invocation.Get(_port);
        string? host = invocation.Get(_listen);
        if (port is null && host is null)
        {
            return otherwise;
        }

        if (port == 0)
        {
            return null;
        }

        return string.Join(',', (host ?? "127.0.0.1").Split(',').Select(one => WithPort(one.Trim(), port ?? ServerOptions.MemcachedPort)));
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
