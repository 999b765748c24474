namespace Cairn.Server.Metrics;

/// <summary>The kind of a command, independent of the protocol.</summary>
internal enum CommandFamily
{
    /// <summary>Management, connections, and everything else.</summary>
    Other = 0,

    /// <summary>Reads values or properties of keys.</summary>
    Get,

    /// <summary>Writes values.</summary>
    Set,

    /// <summary>Removes keys.</summary>
    Delete,

    /// <summary>Adds to or subtracts from numbers.</summary>
    Arithmetic,

    /// <summary>Changes when a key expires.</summary>
    Touch,

    /// <summary>Reads or changes a hash, a set or a sorted set.</summary>
    Hash,

    /// <summary>MULTI to EXEC. The commands within also count in their own families.</summary>
    Transaction,

    /// <summary>Publishes or subscribes.</summary>
    PubSub,
}

/// <summary>A command in the metrics.</summary>
/// <param name="Id">The command's index in every recorder: <see cref="RequestRecorder"/>.</param>
/// <param name="Protocol">The protocol: memcached or resp.</param>
/// <param name="Name">The name, as clients write it, in lower case.</param>
/// <param name="Family">The kind of the command.</param>
internal sealed record MeteredCommand(int Id, string Protocol, string Name, CommandFamily Family);
