namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The parts of the contract that concern nodes, with a process for each node, over one store file.</summary>
public sealed class NodeTests : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly CairnHybridCache _cache;
    private readonly ChildProcess _node;

    public NodeTests()
    {
        _cache = HybridRoles.Open(_directory.FilePath);
        _node = ChildProcess.Start(typeof(Program), "hybrid-node", _directory.FilePath);
        Assert.Equal("ready", _node.ReadLine());
    }

    public void Dispose()
    {
        _node.Dispose();
        _cache.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData("tag|tag")]
    [InlineData("remove|key")]
    [InlineData("set|key|new")]
    [InlineData("clear")]
    public async Task Change_on_one_node_while_a_factory_runs_on_the_other_is_not_undone_by_it(string change)
    {
        var factory = new HeldFactory<string>();

        Task<string> made = _cache.GetOrCreateAsync("key", token => factory.RunAsync(token), tags: ["tag"]).AsTask();
        await factory.StartedAsync();
        Assert.Equal("done", Tell(change));
        factory.Return("old");

        Assert.Equal("old", await made);
        Assert.Equal("new", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]));
        Assert.Equal("new", Tell("get|key|newest|tag"));
    }

    [Theory]
    [InlineData("tag")]
    [InlineData("remove")]
    [InlineData("set")]
    [InlineData("clear")]
    public async Task Change_here_while_a_factory_runs_there_is_not_undone_by_it(string change)
    {
        Assert.Equal("running", Tell("hold|key|old|tag"));
        await (change switch
        {
            "tag" => _cache.RemoveByTagAsync("tag"),
            "remove" => _cache.RemoveAsync("key"),
            "set" => _cache.SetAsync("key", "new"),
            _ => _cache.ClearAsync(),
        });

        Assert.Equal("old", Tell("release"));
        Assert.Equal("new", Tell("get|key|new|tag"));
        Assert.Equal("new", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("newest"), tags: ["tag"]));
    }

    [Theory]
    [InlineData("tag|tag")]
    [InlineData("remove|key")]
    [InlineData("set|key|new")]
    [InlineData("topic|topic")]
    [InlineData("clear")]
    public async Task Change_on_one_node_reaches_the_other_that_had_the_value_cached(string change)
    {
        await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("old"), new CairnEntryOptions { Topics = ["topic"] }, ["tag"]);
        Assert.True(_cache.TryGet("key", out string? _));

        Assert.Equal("done", Tell(change));

        Assert.Equal("new", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new")));
    }

    [Fact]
    public async Task Removal_of_entries_with_all_tags_keeps_the_others_on_both_nodes()
    {
        await _cache.SetAsync("both", "old", tags: ["a", "b"]);
        await _cache.SetAsync("one", "kept", tags: ["a"]);
        Assert.Equal("both one", Tell("keys|a"));

        Assert.Equal("done", Tell("tags|a|b"));

        Assert.True(_cache.TryGet("both", out string? _) == false);
        Assert.Equal("kept", await _cache.GetOrCreateAsync("one", _ => new ValueTask<string>("new")));
        Assert.Equal("one", Tell("keys|a"));
        Assert.Equal("nothing", Tell("look|both"));
    }

    [Fact]
    public async Task Removals_of_both_nodes_at_once_lose_none_of_their_conditions()
    {
        const int Keys = 30;
        for (int i = 0; i < 2 * Keys; i++)
        {
            await _cache.SetAsync($"key {i}", "old", tags: ["a", $"own {i}"]);
        }

        for (int i = 0; i < Keys; i++)
        {
            _node.WriteLine($"tags|a|own {i}");
            await _cache.RemoveByTagAsync(["a", $"own {i + Keys}"], TagMatch.All);
            Assert.Equal("done", _node.ReadLine());
        }

        for (int i = 0; i < 2 * Keys; i++)
        {
            Assert.False((await _cache.GetAsync<string>($"key {i}")).IsFound);
            Assert.Equal("nothing", Tell($"look|key {i}"));
        }
    }

    [Fact]
    public async Task Cold_node_does_not_serve_what_was_removed_by_tag_before_it_started()
    {
        await _cache.SetAsync("key", "old", tags: ["tag"]);
        await _cache.RemoveByTagAsync("tag");

        using ChildProcess cold = ChildProcess.Start(typeof(Program), "hybrid-node", _directory.FilePath);
        Assert.Equal("ready", cold.ReadLine());
        cold.WriteLine("get|key|new|tag");

        Assert.Equal("new", cold.ReadLine());
    }

    [Fact]
    public async Task Value_that_was_made_after_its_tag_was_removed_is_made_once_for_both_nodes()
    {
        await _cache.SetAsync("key", "old", tags: ["tag"]);
        await _cache.RemoveByTagAsync("tag");

        Assert.Equal("new", Tell("get|key|new|tag"));
        Assert.Equal("new", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("newest"), tags: ["tag"]));
    }

    [Fact]
    public async Task Two_nodes_that_want_one_key_run_one_factory()
    {
        Assert.Equal("running", Tell("hold|key|made there"));
        Task<string> waiting = _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made here")).AsTask();

        Assert.False(waiting.IsCompleted);
        Assert.Equal("made there", Tell("release"));
        Assert.Equal("made there", await waiting);
    }

    [Fact]
    public async Task Node_that_is_killed_while_its_factory_runs_is_not_waited_for()
    {
        Assert.Equal("running", Tell("hold|key|made there"));
        Task<string> waiting = _cache.GetOrCreateAsync(
            "key", _ => new ValueTask<string>("made here"), new CairnEntryOptions { LeaseWait = Timeout.InfiniteTimeSpan }).AsTask();

        _node.Kill();

        Assert.Equal("made here", await waiting);
    }

    private string Tell(string order)
    {
        _node.WriteLine(order);
        return _node.ReadLine();
    }
}
