using System.Globalization;
using System.Text.Json;

namespace Cairn.FileStore.Tests.Processes;

/// <summary>Several processes that write one file.</summary>
public class ManyWritersTests
{
    private const int Writers = 8;
    private const int Sets = 1000;
    private const int Keys = 100;

    [Fact]
    public void Next_read_of_another_process_sees_a_value_that_was_set()
    {
        using var file = new CacheFile();
        DistributedFileStoreCacheString cache = file.Open();
        using ChildProcess other = StartAnswering(file);

        for (int i = 0; i < 50; i++)
        {
            string value = i.ToString(CultureInfo.InvariantCulture);
            Ask(other, $"set there {value}");
            Assert.Equal(value, cache.Get("there"));
            cache.Set("here", value);
            Assert.Equal(value, Ask(other, "get here"));
        }

        Ask(other, "remove here");
        Assert.Null(cache.Get("here"));
        Ask(other, "clear");
        Assert.Empty(cache.GetAllKeyValues());
    }

    [Fact]
    public async Task Eight_processes_write_without_an_error_and_lose_nothing()
    {
        using var file = new CacheFile();

        await WriteFromAll(file);

        AssertComplete(file);
    }

    [Fact]
    public async Task Processes_that_only_poll_write_without_an_error_and_lose_nothing()
    {
        using var file = new CacheFile();

        await WriteFromAll(file, writers: 3, sets: 200, isPolling: _ => true);

        AssertComplete(file, writers: 3, sets: 200);
    }

    [Fact]
    public async Task Processes_that_only_poll_and_processes_that_do_not_lose_nothing_together()
    {
        using var file = new CacheFile();

        await WriteFromAll(file, writers: 4, sets: 200, isPolling: writer => writer % 2 == 0);

        AssertComplete(file, writers: 4, sets: 200);
    }

    private static async Task WriteFromAll(CacheFile file, int writers = Writers, int sets = Sets, Func<int, bool>? isPolling = null)
    {
        isPolling ??= _ => false;
        var children = new List<ChildProcess>();
        try
        {
            for (int i = 0; i < writers; i++)
            {
                string[] arguments =
                [
                    "write-many", file.DirectoryPath, $"w{i}", sets.ToString(CultureInfo.InvariantCulture), Keys.ToString(CultureInfo.InvariantCulture),
                    .. isPolling(i) ? ["polling"] : Array.Empty<string>(),
                ];
                children.Add(ChildProcess.Start(typeof(Program), arguments));
            }

            using DistributedFileStoreCacheString reader = file.Open(options => options.UsePolling = isPolling(0));
            Assert.All(children, child => Assert.Equal("ready", child.ReadLine()));
            foreach (ChildProcess child in children)
            {
                child.WriteLine("go");
            }

            using var isDone = new CancellationTokenSource();
            Task<int> reading = OwnThread.Run(() => Read(reader, isDone.Token));
            string[] results = [.. children.Select(child => child.ReadLine())];
            await isDone.CancelAsync();

            Assert.Equal(0, await reading);
            Assert.All(results, result => Assert.Equal("0", result));
        }
        finally
        {
            foreach (ChildProcess child in children)
            {
                child.Dispose();
            }
        }
    }

    // The numbers of a key never decrease, because each writer counts up.
    private static int Read(DistributedFileStoreCacheString reader, CancellationToken isDone)
    {
        int failures = 0;
        var last = new Dictionary<string, int>(StringComparer.Ordinal);
        while (!isDone.IsCancellationRequested)
        {
            foreach ((string key, string value) in reader.GetAllKeyValues())
            {
                int number = int.Parse(value.AsSpan("value ".Length), CultureInfo.InvariantCulture);
                failures += number < last.GetValueOrDefault(key) ? 1 : 0;
                last[key] = number;
            }
        }

        return failures;
    }

    private static void AssertComplete(CacheFile file, int writers = Writers, int sets = Sets)
    {
        using DistributedFileStoreCacheString fresh = file.Open();
        IReadOnlyDictionary<string, string> all = fresh.GetAllKeyValues();

        Assert.Equal(writers * Keys, all.Count);
        for (int writer = 0; writer < writers; writer++)
        {
            for (int key = 0; key < Keys; key++)
            {
                Assert.Equal($"value {sets - Keys + key}", all[$"w{writer}:{key}"]);
            }
        }

        using JsonDocument document = JsonDocument.Parse(file.Text);
        Assert.Equal("cairn.filestore/2", document.RootElement.GetProperty("format").GetString());
    }

    private static ChildProcess StartAnswering(CacheFile file)
    {
        var child = ChildProcess.Start(typeof(Program), "answer", file.DirectoryPath);
        Assert.Equal("ready", child.ReadLine());
        return child;
    }

    private static string Ask(ChildProcess child, string request)
    {
        child.WriteLine(request);
        return child.ReadLine();
    }
}
