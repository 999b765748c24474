using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

#pragma warning disable VSTHRD003 // The tests complete the sources that their own factories wait for; no other work waits for the tests' thread.

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>
/// Each row of the table of differences in docs/how-to/migrate.md is what Microsoft's implementation does, and what this one does. The rest of the
/// contract is the same in both (<see cref="SameAsMicrosoftsTests"/>).
/// </summary>
public sealed class DifferentFromMicrosoftsTests
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    // By the first cell of the row.
    private static readonly Dictionary<string, (string Theirs, string Ours, Func<Nodes, Task<string>> Run)> Rows = new(StringComparer.Ordinal)
    {
        ["`RemoveAsync` or `RemoveByTagAsync` while the factory runs"] = ("old, old", "new, new", async nodes =>
            $"{await ChangeMeanwhileAsync(nodes.Add(), cache => cache.RemoveAsync("key"))}, {await ChangeMeanwhileAsync(nodes.Add(), cache => cache.RemoveByTagAsync("tag"))}"),
        ["`SetAsync` while the factory runs"] = ("old", "set", nodes => ChangeMeanwhileAsync(nodes.Add(), cache => cache.SetAsync("key", "set"))),
        ["A tag invalidated on another machine"] = ("old", "new", async nodes =>
        {
            HybridCache here = nodes.Add(nodes.Level);
            HybridCache there = nodes.Add(nodes.Level);
            await AskAsync(here, "old");
            await there.RemoveByTagAsync("tag");
            return await AskAsync(here, "new");
        }),
        ["A second level that hangs"] = ("hangs", "made", async nodes =>
        {
            var level = new HangingCache { Hangs = method => method == LevelMethod.Get };
            Task<string> asking = AskAsync(nodes.Add(level), "made");
            TimeSpan patience = nodes.IsMicrosofts ? TimeSpan.FromSeconds(2) : LongestWait; // Twice the bound of this cache.
            string outcome = await Task.WhenAny(asking, Task.Delay(patience)) == asking ? await asking : "hangs"; // Microsoft's does, however long it takes.
            level.LetGo();
            await asking.WaitAsync(LongestWait);
            return outcome;
        }),
        ["A second level that throws on a removal"] = ("throws", "done", async nodes =>
        {
            nodes.Level.Script = (operation, _) => operation == "remove" ? Fault.Throw : Fault.None;
            try
            {
                await nodes.Add(nodes.Level).RemoveAsync("key");
                return "done";
            }
            catch (InvalidOperationException)
            {
                return "throws";
            }
        }),
        ["`AsyncLocal` and `Activity` with a cancellable token"] = ("lost", "kept", async nodes =>
        {
            using var cancellation = new CancellationTokenSource();
            var local = new AsyncLocal<string?> { Value = "kept" };
            return await nodes.Add().GetOrCreateAsync("key", _ => new ValueTask<string>(local.Value ?? "lost"), cancellationToken: cancellation.Token);
        }),
        ["Several processes, one missing key"] = ("2 runs", "1 runs", async nodes =>
        {
            HybridCache here = nodes.Add(nodes.Level);
            HybridCache there = nodes.Add(nodes.Level);
            int runs = 0;
            var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            async ValueTask<string> MakeAsync(CancellationToken token)
            {
                Interlocked.Increment(ref runs);
                await go.Task;
                return "made";
            }

            Task<string> first = here.GetOrCreateAsync("key", MakeAsync).AsTask();
            Task<string> second = there.GetOrCreateAsync("key", MakeAsync).AsTask();
            await Eventually.TrueAsync(() => Volatile.Read(ref runs) >= (nodes.IsMicrosofts ? 2 : 1), "the factories");
            go.SetResult();
            await Task.WhenAll(first, second).WaitAsync(LongestWait);
            return $"{runs} runs";
        }),
        ["The second level's format"] = ("created again", "created again", async nodes =>
        {
            using var others = new Nodes(!nodes.IsMicrosofts, nodes.Level);
            await AskAsync(others.Add(nodes.Level), "of the other");
            return await AskAsync(nodes.Add(nodes.Level), "created again");
        }),
        ["`AddDistributedMemoryCache` as second level"] = ("new", "old", async nodes =>
        {
            var memory = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions()));
            await AskAsync(nodes.Add(memory), "old");
            return await AskAsync(nodes.Add(memory), "new");
        }),
        ["A serializer that throws for the value of a factory"] = ("throws", "made", async nodes =>
        {
            try
            {
                return (await nodes.Add(nodes.Level).GetOrCreateAsync("key", _ => new ValueTask<Unserializable>(new Unserializable { Name = "made" }))).Name;
            }
            catch (NotSupportedException)
            {
                return "throws";
            }
        }),
        ["One key, two types at the same time"] = ("5 and refused", "5 and five", async nodes =>
        {
            HybridCache cache = nodes.Add();
            var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Task<int> number = cache.GetOrCreateAsync("key", async _ =>
            {
                await go.Task;
                return 5;
            }).AsTask();
            string text;
            try
            {
                text = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("five"));
            }
            catch (InvalidOperationException)
            {
                text = "refused";
            }

            go.SetResult();
            return $"{await number.WaitAsync(LongestWait)} and {text}";
        }),
        ["A keyed cache in the second level"] = ("old", "new", async nodes =>
        {
            await AskAsync(nodes.Add(nodes.Level, "one"), "old");
            return await AskAsync(nodes.Add(nodes.Level, "another"), "new");
        }),
    };

    public static TheoryData<string> Names => [.. Rows.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Row_of_the_guide_is_what_both_do(string row)
    {
        (string theirs, string ours, Func<Nodes, Task<string>> run) = Rows[row];

        foreach (bool isMicrosofts in new[] { true, false })
        {
            using var nodes = new Nodes(isMicrosofts, new FaultyDistributedCache());
            Assert.Equal(isMicrosofts ? theirs : ours, await run(nodes));
        }
    }

    [Fact]
    public void Guide_names_these_differences_and_no_others()
    {
        string guide = File.ReadAllText(RepositoryFile.At("docs", "how-to", "migrate.md"));
        string section = guide[guide.IndexOf("## From Microsoft's HybridCache", StringComparison.Ordinal)..guide.IndexOf("## From FusionCache", StringComparison.Ordinal)];

        IEnumerable<string> rows = section.Split('\n')
            .Where(line => line.StartsWith("| ", StringComparison.Ordinal) && !line.StartsWith("| |", StringComparison.Ordinal))
            .Select(line => line.Split('|')[1].Trim());

        IEnumerable<string> known = Rows.Keys.Concat(SameAsMicrosoftsTests.RowsOfDifferences).Concat(ContractOverMicrosoftsTests.RowsOfDifferences);
        Assert.Equal(known.Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal), rows.Order(StringComparer.Ordinal));
    }

    private static async Task<string> AskAsync(HybridCache cache, string value) =>
        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>(value), tags: ["tag"]);

    private static async Task<string> ChangeMeanwhileAsync(HybridCache cache, Func<HybridCache, ValueTask> change)
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task<string> making = cache.GetOrCreateAsync(
            "key",
            async _ =>
            {
                started.SetResult();
                await go.Task;
                return "old";
            },
            tags: ["tag"]).AsTask();
        await started.Task.WaitAsync(LongestWait);

        await change(cache);
        go.SetResult();
        await making.WaitAsync(LongestWait);

        return await AskAsync(cache, "new");
    }

    /// <summary>A type that the JSON serializer refuses.</summary>
    private sealed class Unserializable
    {
        public string Name { get; set; } = "";

        public Action Callback => () => { };
    }

    /// <summary>Caches of one implementation, each with its own container, as on several machines.</summary>
    private sealed class Nodes(bool isMicrosofts, FaultyDistributedCache level) : IDisposable
    {
        private readonly List<ServiceProvider> _providers = [];

        public bool IsMicrosofts => isMicrosofts;

        /// <summary>Gets a second level that nodes can share.</summary>
        public FaultyDistributedCache Level => level;

        public HybridCache Add(IDistributedCache? secondLevel = null, string? key = null)
        {
            var services = new ServiceCollection();
            if (secondLevel is not null)
            {
                services.AddSingleton(secondLevel);
            }

            if (isMicrosofts)
            {
                _ = key is null ? services.AddHybridCache() : services.AddKeyedHybridCache(key);
            }
            else
            {
                _ = key is null ? services.AddCairnHybridCache() : services.AddKeyedCairnHybridCache(key);
            }

            ServiceProvider provider = services.BuildServiceProvider();
            _providers.Add(provider);
            return key is null ? provider.GetRequiredService<HybridCache>() : provider.GetRequiredKeyedService<HybridCache>(key);
        }

        public void Dispose() => _providers.ForEach(provider => provider.Dispose());
    }
}
