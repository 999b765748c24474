using Cairn.Server.Metrics;

namespace Cairn.Server.Resp.Commands;

/// <summary>The commands of RESP that this server executes.</summary>
internal static class RespCommands
{
    /// <summary>Gets the table of the commands.</summary>
    public static CommandTable Table { get; } = new(
        [
            .. ConnectionCommands.All,
            .. StringCommands.All,
            .. CounterCommands.All,
            .. KeyCommands.All,
            .. ExpirationCommands.All,
            .. HashCommands.All,
            .. SetCommands.All,
            .. SortedSetCommands.All,
            .. TransactionCommands.All,
            .. PubSubCommands.All,
            .. ScriptCommands.All,
            .. ServerCommands.All,
            .. AbsentFeatureCommands.All,
        ],
        ScriptTable.All);

    /// <summary>Gets all commands and subcommands for the metrics. The first element stands for requests that are no known command.</summary>
    public static IReadOnlyList<MeteredCommand> Metered { get; } =
    [
        new(CommandTable.Unknown, CommandTable.Protocol, "unknown", CommandFamily.Other),
        .. Table.All
            .SelectMany(command => command.Subcommands.Prepend(command))
            .Select(command => new MeteredCommand(command.Number, CommandTable.Protocol, command.Name, FamilyOf(command))),
    ];

    private static CommandFamily FamilyOf(CommandInfo command) => command.Group switch
    {
        "hash" or "set" or "sorted-set" => CommandFamily.Hash,
        "transactions" => CommandFamily.Transaction,
        "pubsub" => CommandFamily.PubSub,
        "string" or "generic" => FamilyOfKeyCommand(command),
        _ => CommandFamily.Other,
    };

    private static CommandFamily FamilyOfKeyCommand(CommandInfo command) => command.Name switch
    {
        "incr" or "incrby" or "incrbyfloat" or "decr" or "decrby" => CommandFamily.Arithmetic,
        "del" or "unlink" or "getdel" => CommandFamily.Delete,
        "touch" or "persist" or "getex" => CommandFamily.Touch,
        _ when command.Name.Contains("expire", StringComparison.Ordinal) && (command.Flags & CommandFlags.Write) != 0 => CommandFamily.Touch,
        _ when (command.Flags & CommandFlags.Write) != 0 => CommandFamily.Set,
        _ when (command.Flags & CommandFlags.ReadOnly) != 0 => CommandFamily.Get,
        _ => CommandFamily.Other,
    };
}
