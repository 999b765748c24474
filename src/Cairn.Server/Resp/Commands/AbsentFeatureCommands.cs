namespace Cairn.Server.Resp.Commands;

/// <summary>
/// Commands about features that this server does not have: replicas, modules, and samples of slow events. Monitoring programs and client
/// libraries send them. The replies are those of a Redis that has none of them, because such programs report an unknown command as a failure.
/// </summary>
internal static class AbsentFeatureCommands
{
    private const CommandFlags Admin = CommandFlags.Admin | CommandFlags.NoScript;
    private const CommandFlags Monitoring = Admin | CommandFlags.Loading | CommandFlags.Stale;

    public static CommandInfo[] All { get; } =
    [
        ServerCommands.Make("role", 1, CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, Role),
        new CommandInfo
        {
            Name = "module", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = Nothing,
            Subcommands = [ServerCommands.Make("module|list", 2, Admin, Nothing), HelpCommand.Of("module", "server")],
        },
        new CommandInfo
        {
            Name = "latency", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = Nothing, Subcommands =
            [
                ServerCommands.Make("latency|latest", 2, Monitoring, Nothing),
                ServerCommands.Make("latency|history", 3, Monitoring, Nothing),
                ServerCommands.Make("latency|reset", -2, Monitoring, Reset),
                HelpCommand.Of("latency", "server"),
            ],
        },
    ];

    private static void Role(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        writer.WriteArrayHeader(3);
        writer.WriteBulk("master"u8);
        writer.WriteInteger(0); // The offset of replication.
        writer.WriteArrayHeader(0); // The replicas.
    }

    private static void Nothing(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) => writer.WriteArrayHeader(0);

    private static void Reset(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) => writer.WriteInteger(0);
}
