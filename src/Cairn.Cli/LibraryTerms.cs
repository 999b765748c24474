using Cairn.Server;

namespace Cairn.Cli;

// The library names an option as a program sets it (StoreOptions.CapacityBytes). A user of the tool writes --capacity.
//
// The table is complete for everything that the tool can set: MessageTests provokes every such message.
internal static class LibraryTerms
{
    private static readonly string[] Types = [nameof(StoreOptions), nameof(CompactOptions), nameof(ServerOptions), nameof(ConnectionLimits)];

    private static readonly (string Property, string Option)[] Options =
    [
        (nameof(StoreOptions.MaxCapacityBytes), "--max-capacity"),
        (nameof(StoreOptions.CapacityBytes), "--capacity"),
        (nameof(StoreOptions.AverageEntryBytes), "--average-entry"),
        (nameof(StoreOptions.Encryption), "--key-file or --password-file"),
        (nameof(ServerOptions.Workers), "--threads (-t)"),
        (nameof(ServerOptions.MaxValueBytes), "--max-value (-I)"),
        (nameof(ServerOptions.MaxKeyBytes), "--max-key"),
        (nameof(ServerOptions.SlowThreshold), "--slow"),
        (nameof(ServerOptions.StopTimeout), "--stop-timeout"),
        (nameof(ConnectionLimits.Connections), "--max-connections (-c)"),
        (nameof(ConnectionLimits.InputBytesPerConnection), "--max-request"),
        (nameof(ConnectionLimits.OutputBytesPerConnection), "--max-waiting"),
        (nameof(ConnectionLimits.BufferBytes), "--buffer-memory"),
        (nameof(ConnectionLimits.IdleTimeout), "--idle-timeout"),
        (nameof(ConnectionLimits.RequestTimeout), "--request-timeout"),
        (nameof(ConnectionLimits.SlowReaderTimeout), "--slow-reader-timeout"),
        (nameof(ConnectionLimits.RequestsPerTurn), "--requests-per-turn (-R)"),
    ];

    /// <summary>A message of the library with the names that options have on the command line.</summary>
    public static string ForTool(string message)
    {
        foreach (string type in Types)
        {
            if (!message.Contains(type, StringComparison.Ordinal))
            {
                continue;
            }

            foreach ((string property, string option) in Options)
            {
                message = message.Replace($"{type}.{property}", option, StringComparison.Ordinal);
            }
        }

        return message;
    }
}
