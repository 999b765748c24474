using Cairn.Server.Metrics;

namespace Cairn.Server.Memcached;

/// <summary>The commands of memcached's protocols in the metrics.</summary>
internal static class MemcachedCommands
{
    /// <summary>The name of the protocol in metrics.</summary>
    public const string Protocol = "memcached";

    /// <summary>Gets all commands. The first element stands for requests that are no known command.</summary>
    public static IReadOnlyList<MeteredCommand> Metered { get; } =
    [
        .. Enum.GetValues<MemcachedCommand>().Select(command =>
            new MeteredCommand(RequestRecorder.Memcached + (int)command, Protocol, NameOf(command), FamilyOf(command))),
    ];

    /// <summary>Returns the name of a command.</summary>
    public static string NameOf(MemcachedCommand command) => command switch
    {
        MemcachedCommand.None => "unknown",
        MemcachedCommand.MetaGet => "mg",
        MemcachedCommand.MetaSet => "ms",
        MemcachedCommand.MetaDelete => "md",
        MemcachedCommand.MetaArithmetic => "ma",
        MemcachedCommand.MetaDebug => "me",
        MemcachedCommand.MetaNoop => "mn",
        MemcachedCommand.FlushAll => "flush_all",
        MemcachedCommand.CacheMemlimit => "cache_memlimit",
        MemcachedCommand.LruCrawler => "lru_crawler",
        MemcachedCommand.RefreshCerts => "refresh_certs",
        MemcachedCommand.SaslList => "sasl_list",
        MemcachedCommand.SaslAuth => "sasl_auth",
        MemcachedCommand.SaslStep => "sasl_step",
        _ => command.ToString().ToLowerInvariant(),
    };

    private static CommandFamily FamilyOf(MemcachedCommand command) => command switch
    {
        MemcachedCommand.Get or MemcachedCommand.Gets or MemcachedCommand.Gat or MemcachedCommand.Gats or MemcachedCommand.MetaGet
            or MemcachedCommand.MetaDebug => CommandFamily.Get,
        >= MemcachedCommand.Set and <= MemcachedCommand.Cas or MemcachedCommand.MetaSet => CommandFamily.Set,
        MemcachedCommand.Delete or MemcachedCommand.MetaDelete or MemcachedCommand.FlushAll => CommandFamily.Delete,
        MemcachedCommand.Incr or MemcachedCommand.Decr or MemcachedCommand.MetaArithmetic => CommandFamily.Arithmetic,
        MemcachedCommand.Touch => CommandFamily.Touch,
        _ => CommandFamily.Other,
    };
}
