using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Cairn.Caching;
using Cairn.Caching.AspNetCore;
using Cairn.FileStore;
using Cairn.Memcached;
using Cairn.Redis;

namespace Cairn.ConventionTests;

/// <summary>docs/reference/options.md has every option, with the default that the code has.</summary>
public partial class OptionsDocumentTests
{
    private static readonly Dictionary<string, object> Defaults = new(StringComparer.Ordinal)
    {
        [nameof(StoreOptions)] = new StoreOptions { Path = "store.cairn" },
        [nameof(CollectionOptions)] = new CollectionOptions(),
        [nameof(VerifyOptions)] = new VerifyOptions(),
        [nameof(CompactOptions)] = new CompactOptions(),
        [nameof(CairnStoreFileOptions)] = new CairnStoreFileOptions(),
        [nameof(CairnDistributedCacheOptions)] = new CairnDistributedCacheOptions(),
        [nameof(CairnOutputCacheOptions)] = new CairnOutputCacheOptions(),
        [nameof(CairnHybridOutputOptions)] = new CairnHybridOutputOptions(),
        [nameof(CairnHybridCacheOptions)] = new CairnHybridCacheOptions(),
        [nameof(CairnEntryOptions)] = new CairnEntryOptions(),
        [nameof(DistributedFileStoreCacheOptions)] = new DistributedFileStoreCacheOptions(),
        [nameof(RedisClientOptions)] = new RedisClientOptions { EndPoints = [] },
        [nameof(CairnRedisOptions)] = new CairnRedisOptions(),
        [nameof(CairnMemcachedOptions)] = new CairnMemcachedOptions(),
    };

    private static readonly string[] s_documents = ["docs/reference/options.md", "docs/reference/redis.md"];

    public static TheoryData<string> Types => [.. Defaults.Keys];

    [Theory]
    [MemberData(nameof(Types))]
    public void Every_option_stands_in_the_document_with_its_default(string type)
    {
        var properties = Defaults[type].GetType().GetProperties(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly);

        var documented = RowsOf(type);

        Assert.Equal(properties.Select(property => property.Name), documented.Keys);
        Assert.All(properties, property =>
            Assert.StartsWith(Text(property.Name, property.GetValue(Defaults[type])), documented[property.Name], StringComparison.Ordinal));
    }

    public static IEnumerable<object[]> Durations =>
        from options in Defaults.Values
        where options is CairnHybridCacheOptions or CairnEntryOptions or CairnStoreFileOptions or RedisClientOptions or CairnMemcachedOptions
        from property in options.GetType().GetProperties(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly)
        where (Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType) == typeof(TimeSpan)
        select new object[] { options.GetType().Name, property.Name };

    /// <summary>Unusual durations are refused by name when the cache or client is created, unless the document has them in the range.</summary>
    [Theory]
    [MemberData(nameof(Durations))]
    public async Task Duration_is_accepted_exactly_if_it_is_in_the_range_in_the_document(string type, string name)
    {
        string range = RowsOf(type, group: "range")[name];
        (TimeSpan Time, bool IsInRange)[] cases =
        [
            (Timeout.InfiniteTimeSpan, range.Contains("infinite", StringComparison.Ordinal)),
            (TimeSpan.Zero, range.StartsWith("0 ", StringComparison.Ordinal)),
            (TimeSpan.FromSeconds(-5), false),
            (TimeSpan.MinValue, false),
            (TimeSpan.MaxValue, !UpperBound().IsMatch(range)),
        ];

        foreach ((TimeSpan time, bool isInRange) in cases)
        {
            Exception? refusal = await Record.ExceptionAsync(() => CreateWithAsync(type, name, time));

            Assert.True(isInRange == refusal is null, $"{time} for {name}: {refusal?.Message ?? "no error"}");
            Assert.True(refusal is null || refusal.Message.Contains(name, StringComparison.Ordinal), refusal?.Message);
        }
    }

    private static async Task CreateWithAsync(string type, string name, TimeSpan time)
    {
        using var directory = new TestDirectory();
        object options = type switch
        {
            nameof(CairnHybridCacheOptions) => new CairnHybridCacheOptions(),
            nameof(CairnEntryOptions) => new CairnEntryOptions(),
            nameof(CairnStoreFileOptions) => new CairnStoreFileOptions { Path = directory["store.cairn"] },
            nameof(RedisClientOptions) => RedisClientOptions.Parse("127.0.0.1:1"),
            _ => new CairnMemcachedOptions { Servers = { "127.0.0.1:1" } },
        };
        options.GetType().GetProperty(name)!.SetValue(options, time);
        await using IAsyncDisposable created = options switch
        {
            CairnHybridCacheOptions ofCache => CairnHybridCache.Create(ofCache),
            CairnEntryOptions ofEntry => CairnHybridCache.Create(new CairnHybridCacheOptions { DefaultEntryOptions = ofEntry }),
            CairnStoreFileOptions ofFile => CairnHybridCache.Create(new CairnHybridCacheOptions { StoreFile = ofFile }),
            RedisClientOptions ofClient => RedisClient.Create(ofClient),
            var ofMemcached => new CairnMemcachedCache((CairnMemcachedOptions)ofMemcached),
        };
    }

    private static Dictionary<string, string> RowsOf(string type, string group = "default")
    {
        var section = s_documents.SelectMany(document => File.ReadAllText(Repository.At(document)).Split("\n## "))
            .Single(part => part.StartsWith($"{type}\n", StringComparison.Ordinal));
        return Row().Matches(section).ToDictionary(
            match => match.Groups["name"].Value, match => match.Groups[group].Value.Replace("`", "", StringComparison.Ordinal), StringComparer.Ordinal);
    }

    private static string Text(string name, object? value) => value switch
    {
        not null when name == nameof(StoreOptions.Path) => "none: required",
        null => "null",
        bool flag => flag ? "true" : "false",
        long bytes and >= 1 << 20 => $"{bytes >> 20} MiB",
        long or int => string.Format(CultureInfo.InvariantCulture, "{0:N0}", value),
        TimeSpan { Ticks: 0 } => "zero",
        TimeSpan { Ticks: > 0 and < TimeSpan.TicksPerSecond } time => FormattableString.Invariant($"{time.TotalMilliseconds} milliseconds"),
        TimeSpan { Ticks: TimeSpan.TicksPerSecond } => "1 second",
        TimeSpan { Ticks: > TimeSpan.TicksPerSecond and <= TimeSpan.TicksPerMinute } time => FormattableString.Invariant($"{time.TotalSeconds} seconds"),
        Expiration expiration => expiration == Expiration.None ? "none" : $"{expiration}",
        System.Collections.IEnumerable values and not string when !values.Cast<object>().Any() => "none",
        TimeProvider clock => clock == TimeProvider.System ? "TimeProvider.System" : "another clock",
        _ => $"{value}",
    };

    // | `Name` | **default** (range). Reason |
    [GeneratedRegex(@"^\| `(?<name>\w+)` \| \*\*(?<default>.+?)\*\*(?: \((?<range>[^)]*)\))?\.", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"\bto \S|up to \S")]
    private static partial Regex UpperBound();
}
