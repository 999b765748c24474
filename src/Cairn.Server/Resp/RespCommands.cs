using Cairn.Server.Metrics;

namespace Cairn.Server.Resp;

/// <summary>The commands of RESP in the metrics.</summary>
internal static class RespCommands
{
    /// <summary>The name of the protocol in metrics.</summary>
    public const string Protocol = "resp";

    /// <summary>The number of requests that are no known command.</summary>
    public const int Unknown = RequestRecorder.Resp;

    /// <summary>Gets all commands and subcommands. The first element stands for requests that are no known command.</summary>
    public static IReadOnlyList<MeteredCommand> Metered { get; } =
    [
        new(Unknown, Protocol, "unknown", CommandFamily.Other),
        .. CommandTable.All
            .SelectMany(command => command.Subcommands.Prepend(command))
            .Select(command => new MeteredCommand(command.Number, Protocol, command.Name, FamilyOf(command))),
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
