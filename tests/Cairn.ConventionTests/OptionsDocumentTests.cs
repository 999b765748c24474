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

    private static Dictionary<string, string> RowsOf(string type)
    {
        var section = s_documents.SelectMany(document => File.ReadAllText(Repository.At(document)).Split("\n## "))
            .Single(part => part.StartsWith($"{type}\n", StringComparison.Ordinal));
        return Row().Matches(section).ToDictionary(
            match => match.Groups[1].Value, match => match.Groups[2].Value.Replace("`", "", StringComparison.Ordinal), StringComparer.Ordinal);
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

    // | `Name` | unit | range | default | why |
    [GeneratedRegex(@"^\| `(\w+)` \|[^|]*\|[^|]*\| ([^|]*) \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
