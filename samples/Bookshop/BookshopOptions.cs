using System.Globalization;
using Bookshop.Reading;

namespace Bookshop;

/// <summary>The section "Bookshop" of the configuration. It is read and checked once, when the application is created.</summary>
internal sealed record BookshopOptions
{
    /// <summary>How the API reads a book: see <see cref="ReadPath"/>. Default hybrid.</summary>
    public ReadPath ReadPath { get; private init; }

    /// <summary>How long a book is cached. A stale book is served for at most this long if a notification is lost. Default 10 minutes.</summary>
    public TimeSpan CacheFor { get; private init; }

    /// <summary>Gets how long a request waits for the second level before it asks the database.</summary>
    public TimeSpan SecondLevelTimeout { get; private init; }

    /// <summary>The store file of hybrid+store and both output caches. Default null: Cairn's default file for this program.</summary>
    public string? StoreFile { get; private init; }

    /// <summary>The server of hybrid+redis, in the syntax of StackExchange.Redis. Default localhost:6379.</summary>
    public string Redis { get; private init; } = "localhost:6379";

    /// <summary>The folder of the file of settings. It must exist. Default null: the program's folder.</summary>
    public string? SettingsFolder { get; private init; }

    /// <summary>The number of books that are generated for an empty database. Default 100,000.</summary>
    public int Books { get; private init; }

    /// <summary>The number of authors that are generated for an empty database. Default 10,000.</summary>
    public int Authors { get; private init; }

    /// <summary>The connection string of PostgreSQL.</summary>
    public string ConnectionString { get; private init; } = "";

    /// <exception cref="BookshopSetupException">A setting is missing or wrong.</exception>
    public static BookshopOptions From(IConfiguration configuration)
    {
        var section = configuration.GetSection("Bookshop");
        return new BookshopOptions
        {
            ReadPath = ReadPaths.Parse(section[nameof(ReadPath)] ?? "hybrid"),
            CacheFor = TimeOf(section, nameof(CacheFor), TimeSpan.FromMinutes(10)),
            SecondLevelTimeout = TimeOf(section, nameof(SecondLevelTimeout), TimeSpan.FromSeconds(1)),
            StoreFile = section[nameof(StoreFile)],
            Redis = section[nameof(Redis)] ?? "localhost:6379",
            SettingsFolder = section[nameof(SettingsFolder)],
            Books = NumberOf(section, nameof(Books), 100_000),
            Authors = NumberOf(section, nameof(Authors), 10_000),
            ConnectionString = configuration.GetConnectionString("Bookshop") ?? throw new BookshopSetupException(
                "no database is named. Start with samples/Bookshop/run, which brings its own, or set ConnectionStrings__Bookshop to "
                + "that of a PostgreSQL database, such as Host=localhost;Username=me;Database=bookshop."),
        };
    }

    private static TimeSpan TimeOf(IConfigurationSection section, string name, TimeSpan otherwise) =>
        section[name] is not { } text ? otherwise
        : TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out var time) && time > TimeSpan.Zero ? time
        : throw new BookshopSetupException($"Bookshop:{name} is '{text}'; it takes a time above zero, such as 00:10:00.");

    private static int NumberOf(IConfigurationSection section, string name, int otherwise) =>
        section[name] is not { } text ? otherwise
        : int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number is > 0 and <= 10_000_000 ? number
        : throw new BookshopSetupException($"Bookshop:{name} is '{text}'; it takes a number from 1 to 10,000,000.");
}
