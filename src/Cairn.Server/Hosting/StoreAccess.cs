using Cairn.Messages;
using Cairn.Opening;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Hosting;

/// <summary>Examines the store of a server before anything is opened, and opens it.</summary>
internal static class StoreAccess
{
    /// <summary>Checks that the store could be opened. Changes nothing.</summary>
    /// <exception cref="StoreException">The store cannot be used.</exception>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    public static void Examine(ServerPlan plan, ILogger log)
    {
        ServerOptions options = plan.Options;
        if (options.IsEphemeral || (plan.HasDefaultStore && !Directory.Exists(Path.GetDirectoryName(options.StorePath))))
        {
            StoreExamination.RequireCreatable(OptionsOf(options));
            return;
        }

        StoreExamination found = Readable(options, () => StoreExamination.Of(OptionsOf(options)));
        if (found.DescribeOtherSize(options.GivenCapacityBytes, options.GivenMaxCapacityBytes) is { } difference)
        {
            log.Write(LogLevel.Warning, difference);
        }
    }

    /// <summary>Opens the store, or creates it.</summary>
    /// <param name="options">The options of the server, with the store's file.</param>
    /// <param name="log">The log, which receives the store's warnings and its size.</param>
    /// <param name="isNew">Whether this call created the file.</param>
    public static CairnStore Open(ServerOptions options, ILogger log, out bool isNew)
    {
        string path = options.StorePath!;
        bool wasThere = File.Exists(path);
        CairnStore store = Readable(options, () => CairnStore.Open(OptionsOf(options)));
        store.Engine.EvictsEntries = options.EvictsEntries;
        store.Engine.Failures.Add(message => log.Write(LogLevel.Warning, message));
        isNew = !wasThere && store.IsFirstOpening;
        foreach (string warning in store.Warnings)
        {
            log.Write(LogLevel.Warning, warning);
        }

        if (options.IsEphemeral)
        {
            File.Delete(path); // The mapping keeps the content. No file is left, however the server ends.
        }

        StoreStatistics statistics = store.GetStatistics();
        string size = ByteText.Of(statistics.FileBytes);
        log.Write(
            LogLevel.Information,
            options.IsEphemeral
                ? $"The store is in memory ({size}) and ends with the server."
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"The store is '{path}' ({size}) and holds {statistics.Totals.Entries:N0} {(statistics.Totals.Entries == 1 ? "entry" : "entries")}."));
        return store;
    }

    private static StoreOptions OptionsOf(ServerOptions options) => new()
    {
        Path = options.StorePath!,
        CapacityBytes = options.CapacityBytes,
        MaxCapacityBytes = options.MaxCapacityBytes,
        FlushOnClose = !options.IsEphemeral,
    };

    private static T Readable<T>(ServerOptions options, Func<T> open)
    {
        try
        {
            return open();
        }
        catch (StoreEncryptionException encrypted)
        {
            throw new StoreEncryptionException(
                $"The store '{options.StorePath}' is encrypted, and the server does not serve encrypted stores. Name another, or decrypt it with 'cairn rekey --full --decrypt'.",
                encrypted);
        }
    }
}
