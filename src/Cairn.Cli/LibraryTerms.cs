using Cairn.Server;

namespace Cairn.Cli;

// Translates the names of the library's options (StoreOptions.CapacityBytes) to the options of the command line (--capacity).
//
// The table contains everything that the tool can set; MessageTests provokes each such message.
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
        (nameof(ConnectionLimits.MaxConnections), "--max-connections (-c)"),
        (nameof(ConnectionLimits.MaxInputBytesPerConnection), "--max-request"),
        (nameof(ConnectionLimits.MaxOutputBytesPerConnection), "--max-waiting"),
        (nameof(ConnectionLimits.MaxBufferBytes), "--buffer-memory"),
        (nameof(ConnectionLimits.IdleTimeout), "--idle-timeout"),
        (nameof(ConnectionLimits.RequestTimeout), "--request-timeout"),
        (nameof(ConnectionLimits.SlowReaderTimeout), "--slow-reader-timeout"),
        (nameof(ConnectionLimits.MaxRequestsPerTurn), "--requests-per-turn (-R)"),
    ];

    /// <summary>Returns a message of the library with the option names of the command line.</summary>
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
