using System.Text.Json;
using Xunit.Abstractions;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>Random operations of three caches on one file, compared with a dictionary with expirations.</summary>
public class ModelTests(ITestOutputHelper output)
{
    private const int Steps = 4000;
    private const int StepsPerComparison = 50;

    private static readonly string[] Keys = [.. Enumerable.Range(0, 30).Select(i => $"key{i}"), "", "\ud800", "ключ \"\\\n"];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(0)] // A different seed in each run.
    public void Caches_on_one_file_agree_with_a_dictionary(int seed)
    {
        seed = seed == 0 ? Environment.TickCount : seed;
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        var clock = new ManualClock();
        using var file = new CacheFile();
        List<DistributedFileStoreCacheString> caches = [Open(), Open(), Open()];
        var model = new Dictionary<string, (string Value, DateTimeOffset Expires)>(StringComparer.Ordinal);

        for (int step = 0; step < Steps; step++)
        {
            DistributedFileStoreCacheString cache = caches[random.Next(caches.Count)];
            string key = Keys[random.Next(Keys.Length)];
            switch (random.Next(100))
            {
                case < 40:
                    Set(cache, [KeyValuePair.Create(key, Text(random))], random.Next(3) == 0 ? random.Next(1, 50) : null);
                    break;
                case < 50:
                    Set(cache, [.. Enumerable.Range(0, random.Next(6)).Select(_ => KeyValuePair.Create(Keys[random.Next(Keys.Length)], Text(random)))], null);
                    break;
                case < 65:
                    cache.Remove(key);
                    model.Remove(key);
                    break;
                case < 66:
                    cache.ClearAll([new(key, "cleared")]);
                    model.Clear();
                    model[key] = ("cleared", DateTimeOffset.MaxValue);
                    break;
                case < 70:
                    clock.Advance(TimeSpan.FromSeconds(random.Next(20)));
                    break;
                case < 72:
                    int index = random.Next(caches.Count);
                    caches[index].Dispose();
                    caches[index] = Open();
                    break;
                case < 73:
                    JsonDocument.Parse(File.Exists(file.FilePath) ? File.ReadAllBytes(file.FilePath) : "{}"u8.ToArray()).Dispose();
                    break;
                default:
                    Assert.Equal(ValueOf(key), cache.Get(key));
                    break;
            }

            if (step % StepsPerComparison == 0)
            {
                Assert.Equal(
                    model.Keys.Where(k => ValueOf(k) is not null).Order(StringComparer.Ordinal).Select(k => (k, ValueOf(k))),
                    caches[0].GetAllKeyValues().OrderBy(pair => pair.Key, StringComparer.Ordinal).Select(pair => (pair.Key, (string?)pair.Value)));
            }
        }

        DistributedFileStoreCacheString Open() => file.Open(options => options.TimeProvider = clock);

        string? ValueOf(string key) => model.TryGetValue(key, out (string Value, DateTimeOffset Expires) entry) && clock.Now < entry.Expires ? entry.Value : null;

        void Set(DistributedFileStoreCacheString cache, List<KeyValuePair<string, string>> entries, int? seconds)
        {
            TimeSpan? time = seconds is { } number ? TimeSpan.FromSeconds(number) : null;
            if (entries is [var only])
            {
                cache.Set(only.Key, only.Value, time is { } span ? CacheFile.For(span) : null);
            }
            else
            {
                cache.SetMany(entries);
            }

            foreach ((string key, string value) in entries)
            {
                model[key] = (value, time is { } span ? clock.Now + span : DateTimeOffset.MaxValue);
            }
        }
    }

    private static string Text(Random random) =>
        string.Create(random.Next(random.Next(10) == 0 ? 5000 : 40), random, static (span, random) =>
        {
            foreach (ref char unit in span)
            {
                unit = (char)(random.Next(4) == 0 ? random.Next(0x10000) : random.Next(32, 127));
            }
        });
}
