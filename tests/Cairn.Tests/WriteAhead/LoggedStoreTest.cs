using Cairn.Platform;

namespace Cairn.Tests.WriteAhead;

/// <summary>A test of a store with logged collections. The test can simulate a restart of the machine.</summary>
public abstract class LoggedStoreTest : StoreTest
{
    private protected static readonly CollectionOptions Logged = new() { Region = StoreRegion.Keep };

    private protected string SnapshotPath => FilePath + ".snapshot";

    private protected IEnumerable<string> LogNames =>
        Directory.GetFiles(DirectoryPath, "*.log-*").Select(path => Path.GetFileName(path)!).Order(StringComparer.Ordinal);

    private protected StoreOptions Small => Options with { CapacityBytes = 2L << 20, LogFileBytes = StoreLimits.MinLogFileBytes, CheckpointsByItself = false };

    private protected static string? TextOf(CairnCollection collection, string key) => collection.GetString(key);

    /// <summary>Opens the store as on a machine that has restarted since the last opening.</summary>
    private protected CairnStore OpenAfterRestart(StoreOptions options)
    {
        StorePlatform.BootIdOverride = Guid.NewGuid().ToString();
        try
        {
            return Open(options);
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }
}
