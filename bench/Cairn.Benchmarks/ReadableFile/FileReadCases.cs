using System.Collections.Concurrent;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Cairn.Benchmarks.Measuring;
using Cairn.FileStore;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>Measures reads of a file that does not change.</summary>
internal static class FileReadCases
{
    private const string Subject = "Cairn";

    public static void Measure(AreaRun run, FileScale scale, int entries)
    {
        string size = $"{FileScale.Spell(entries)} entries";
        run.Measure($"file reads, {size}", scale.Rounds, group =>
        {
            string[] requests = Draw(entries, scale.Reads);
            var strings = group.Own(new DistributedFileStoreCacheString(FileScale.Options(run.Settings.Folder, $"read{entries}")));
            FileScale.Fill(strings, entries);
            var dictionary = new ConcurrentDictionary<string, string>(strings.GetAllKeyValues());
            var text = group.Enter(new Reads<StringGet>(Subject, requests, new StringGet(strings)));
            var lookup = group.Enter(new Reads<DictionaryGet>("ConcurrentDictionary", requests, new DictionaryGet(dictionary)));
            group.Compare($"get of a string, {size}", text, lookup);
            group.Compare($"get of a string, {size}", text, group.Enter(new FixedCost("ConcurrentDictionary + 2 ns", 2, lookup)), Goal.AtMost(1));
            group.ExpectNoAllocation($"get of a string, {size}", text);

            var all = group.Enter(new Reads<StringGetAll>(Subject, requests, new StringGetAll(strings)));
            group.Compare($"GetAllKeyValues, nothing changed, {size}", all, group.Enter(new FixedCost("10 ns", 10)), Goal.AtMost(1));
            group.ExpectNoAllocation($"GetAllKeyValues, nothing changed, {size}", all);
            MeasureClasses(run, group, requests[..(requests.Length / 10)], entries, size);
        });
    }

    private static void MeasureClasses(AreaRun run, CaseGroup group, string[] requests, int entries, string size)
    {
        DistributedFileStoreCacheOptions options = FileScale.Options(run.Settings.Folder, $"class{entries}");
        options.JsonSerializerForCacheFile = new JsonSerializerOptions { TypeInfoResolver = new DefaultJsonTypeInfoResolver() };
        var classes = group.Own(new DistributedFileStoreCacheClass(options));
        classes.ClearAll();
        classes.SetManyClass<Item>([.. Enumerable.Range(0, entries).Select(number => KeyValuePair.Create(FileScale.Key(number), Item.Make(number)))]);
        options.ShareObjects = true;
        var sharing = group.Own(new DistributedFileStoreCacheClass(options));
        var json = (JsonTypeInfo<Item>)options.JsonSerializerForCacheFile.GetTypeInfo(typeof(Item));
        IReadOnlyDictionary<string, string> all = classes.GetAllKeyValues();
        string[] texts = [.. requests.Select(key => all[key])]; // The peer must not pay for finding the text.

        var own = group.Enter(new Reads<ClassGet>(Subject, requests, new ClassGet(classes)));
        var peer = group.Enter(new Reads<Deserialize>("System.Text.Json", texts, new Deserialize(json)));
        group.Compare($"GetClass, {size}", own, group.Enter(new FixedCost("System.Text.Json + 20 ns", 20, peer)));
        var found = group.Enter(new Reads<FindAndDeserialize>("ConcurrentDictionary, then System.Text.Json", requests, new FindAndDeserialize(new ConcurrentDictionary<string, string>(all), json)));
        group.Compare($"GetClass, {size}", own, found, Goal.AtMost(1));
        var shared = group.Enter(new Reads<ClassGet>(Subject, requests, new ClassGet(sharing)));
        group.Compare($"GetClass, shared objects, {size}", shared, peer);
        group.ExpectNoAllocation($"GetClass, shared objects, {size}", shared);
    }

    // Key objects that are equal to the stored ones but not the same, as an application has them.
    private static string[] Draw(int entries, int count)
    {
        var random = new Random(1);
        string[] keys = [.. Enumerable.Range(0, entries).Select(FileScale.Key)];
        return [.. Enumerable.Range(0, count).Select(_ => keys[random.Next(entries)])];
    }

    internal sealed class Item
    {
        public int Number { get; set; }

        public string? Name { get; set; }

        public static Item Make(int number) => new() { Number = number, Name = FileScale.Value(number) };
    }

    private interface IRead
    {
        object? Read(string key);
    }

    // One generic type for all contenders. The call is bound at compile time, so that the loop costs each of them the same.
    private sealed class Reads<T>(string name, string[] requests, T read) : OperationContender(name, requests.Length)
        where T : struct, IRead
    {
        protected override void Run(int first, int count)
        {
            foreach (string key in requests.AsSpan(first, count))
            {
                if (read.Read(key) is null)
                {
                    Misses++;
                }
            }
        }
    }

    private readonly struct StringGet(DistributedFileStoreCacheString cache) : IRead
    {
        public object? Read(string key) => cache.Get(key);
    }

    private readonly struct StringGetAll(DistributedFileStoreCacheString cache) : IRead
    {
        public object? Read(string key) => cache.GetAllKeyValues();
    }

    private readonly struct DictionaryGet(ConcurrentDictionary<string, string> dictionary) : IRead
    {
        public object? Read(string key) => dictionary.TryGetValue(key, out string? value) ? value : null;
    }

    private readonly struct ClassGet(DistributedFileStoreCacheClass cache) : IRead
    {
        public object? Read(string key) => cache.GetClass<Item>(key);
    }

    private readonly struct FindAndDeserialize(ConcurrentDictionary<string, string> dictionary, JsonTypeInfo<Item> json) : IRead
    {
        public object? Read(string key) => dictionary.TryGetValue(key, out string? text) ? JsonSerializer.Deserialize(text, json) : null;
    }

    private readonly struct Deserialize(JsonTypeInfo<Item> json) : IRead
    {
        public object? Read(string key) => JsonSerializer.Deserialize(key, json);
    }
}
