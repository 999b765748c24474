namespace Cairn.Server.Metrics;

/// <summary>What kind of request a command is, in whichever protocol.</summary>
internal enum CommandFamily
{
    /// <summary>Management, connections, transactions' bookkeeping, and everything else.</summary>
    Other = 0,

    /// <summary>Reads values or tells of keys.</summary>
    Get,

    /// <summary>Writes values.</summary>
    Set,

    /// <summary>Removes keys.</summary>
    Delete,

    /// <summary>Counts up or down.</summary>
    Arithmetic,

    /// <summary>Changes when a key expires.</summary>
    Touch,

    /// <summary>Reads or changes a hash.</summary>
    Hash,

    /// <summary>MULTI to EXEC. What is executed within counts as itself, too.</summary>
    Transaction,

    /// <summary>Publishes or subscribes.</summary>
    PubSub,
}

/// <summary>A command that requests are counted by.</summary>
/// <param name="Id">Its place in every recorder: <see cref="RequestRecorder"/>.</param>
/// <param name="Protocol">memcached or resp.</param>
/// <param name="Name">As clients write it, in lower case.</param>
/// <param name="Family">What kind it is.</param>
internal sealed record MeteredCommand(int Id, string Protocol, string Name, CommandFamily Family);
