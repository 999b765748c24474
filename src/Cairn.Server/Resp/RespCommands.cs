using Cairn.Server.Metrics;

namespace Cairn.Server.Resp;

/// <summary>The commands of RESP that requests are counted by.</summary>
internal static class RespCommands
{
    /// <summary>What metrics call the protocol.</summary>
    public const string Protocol = "resp";

    /// <summary>The place of requests that are no command.</summary>
    public const int Unknown = RequestRecorder.Resp;

    /// <summary>All of them, subcommands included; the first stands for requests that are none.</summary>
    public static IReadOnlyList<MeteredCommand> Metered { get; } =
    [
        new(Unknown, Protocol, "unknown", CommandFamily.Other),
        .. CommandTable.All
            .SelectMany(command => command.Subcommands.Prepend(command))
            .Select(command => new MeteredCommand(command.Number, Protocol, command.Name, FamilyOf(command))),
    ];

    private static CommandFamily FamilyOf(CommandInfo command) => command.Group switch
    {
        "hash" => CommandFamily.Hash,
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
