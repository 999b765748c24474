using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

#pragma warning disable VSTHRD003 // The tests complete the sources that their own factories wait for; no other work waits for the tests' thread.

/// <summary>Misses without a second level take a shorter path, which keeps every promise of the general one.</summary>
public sealed class PlainMissTests : IDisposable
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);
    private static readonly AsyncLocal<string?> Ambient = new();

    private readonly CairnHybridCache _cache = CairnHybridCache.Create(new CairnHybridCacheOptions { UseSecondLevel = false });

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Value_is_kept_and_the_factory_does_not_run_again(bool waits)
    {
        int runs = 0;

        string first = await _cache.GetOrCreateAsync("key", MakeAsync);
        string second = await _cache.GetOrCreateAsync("key", MakeAsync);

        Assert.Equal(("made 1", "made 1"), (first, second));

        async ValueTask<string> MakeAsync(CancellationToken cancellationToken)
        {
            await WaitAsync(waits);
            return $"made {++runs}";
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Fault_of_the_factory_reaches_its_callers_and_the_next_one_tries_again(bool waits)
    {
        await Assert.ThrowsAsync<FormatException>(async () => await _cache.GetOrCreateAsync<string>("key", async _ =>
        {
            await WaitAsync(waits);
            throw new FormatException();
        }));

        Assert.Equal("made", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made")));
    }

    [Fact]
    public async Task Factory_that_throws_instead_of_returning_a_task_is_as_one_whose_task_faults()
    {
        Func<CancellationToken, ValueTask<string>> factory = _ => throw new FormatException();

        await Assert.ThrowsAsync<FormatException>(async () => await _cache.GetOrCreateAsync("key", factory));

        Assert.Equal("made", await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made")));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Factory_that_asks_for_its_own_key_is_refused(bool waits)
    {
        Task<string> asking = _cache.GetOrCreateAsync("key", async token =>
        {
            await WaitAsync(waits);
            return await _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("inner"), cancellationToken: token);
        }).AsTask();

        await Assert.ThrowsAsync<InvalidOperationException>(() => asking.WaitAsync(LongestWait));
    }

    [Fact]
    public async Task Caller_may_ask_for_the_key_again_after_its_factory_failed()
    {
        await Assert.ThrowsAsync<FormatException>(async () => await _cache.GetOrCreateAsync<string>("key", _ => throw new FormatException()));

        Task<string> first = _cache.GetOrCreateAsync("key", async _ =>
        {
            await Task.Yield();
            return "made";
        }).AsTask();
        Task<string> joined = _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("other")).AsTask();

        Assert.Equal("made", await first.WaitAsync(LongestWait));
        Assert.NotNull(await joined.WaitAsync(LongestWait));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Values_that_the_factory_sets_in_its_context_stay_there(bool waits)
    {
        Ambient.Value = "caller";

        string seen = await _cache.GetOrCreateAsync("key", _ =>
        {
            string before = Ambient.Value!;
            Ambient.Value = "factory";
            return waits ? LaterAsync(before) : new ValueTask<string>(before);
        });

        Assert.Equal(("caller", "caller"), (seen, Ambient.Value));
    }

    [Fact]
    public async Task Caller_whose_context_does_not_flow_gets_its_value()
    {
        Task<string> asked;
        using (ExecutionContext.SuppressFlow())
        {
            asked = _cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made")).AsTask();
        }

        Assert.Equal("made", await asked.WaitAsync(LongestWait));
    }

    [Fact]
    public async Task Value_that_is_set_while_the_factory_runs_wins_although_the_factory_never_waits()
    {
        string made = await _cache.GetOrCreateAsync("key", token =>
        {
            Complete(_cache.SetAsync("key", "set", cancellationToken: token));
            return new ValueTask<string>("made");
        });

        Assert.Equal("made", made);
        Assert.Equal("set", (await _cache.GetAsync<string>("key")).Value);
    }

    [Fact]
    public async Task Key_that_is_removed_while_the_factory_runs_stays_gone_although_the_factory_never_waits()
    {
        string made = await _cache.GetOrCreateAsync("key", token =>
        {
            Complete(_cache.RemoveAsync("key", token));
            return new ValueTask<string>("made");
        });

        Assert.Equal("made", made);
        Assert.False((await _cache.GetAsync<string>("key")).IsFound);
    }

    [Fact]
    public async Task Callers_that_come_while_the_factory_waits_share_its_value()
    {
        var source = new TaskCompletionSource<string>();
        Task<string> first = _cache.GetOrCreateAsync("key", async _ => await source.Task).AsTask();
        Task<string> second = _cache.GetOrCreateAsync<string>("key", _ => throw new FormatException()).AsTask();

        source.SetResult("made");

        Assert.Equal("made", await first.WaitAsync(LongestWait));
        Assert.Equal("made", await second.WaitAsync(LongestWait));
    }

    [Fact]
    public async Task Options_that_come_with_every_call_apply_every_time()
    {
        var unkept = new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheWrite };
        var kept = new HybridCacheEntryOptions { Expiration = TimeSpan.FromMinutes(1) };

        HybridCache cache = _cache;
        for (int call = 0; call < 3; call++)
        {
            Assert.Equal($"{call}", await cache.GetOrCreateAsync("unkept", _ => new ValueTask<string>($"{call}"), unkept));
            Assert.Equal("0", await cache.GetOrCreateAsync("kept", _ => new ValueTask<string>($"{call}"), kept));
        }
    }

    [Theory]
    [InlineData(' ', false)]
    [InlineData('~', true)]
    [InlineData(0x7F, true)]
    [InlineData(0x1F, false)]
    [InlineData(0xE4, true)]
    [InlineData(0x85, false)]
    [InlineData(0xD800, false)]
    public async Task Key_is_cached_if_it_is_text_without_controls_of_ASCII(int character, bool isCached)
    {
        string key = ((char)character).ToString();

        await _cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"));

        Assert.Equal(isCached, (await _cache.GetAsync<string>(key)).IsFound);
    }

    public void Dispose() => _cache.Dispose();

    private static void Complete(ValueTask task) => Assert.True(task.IsCompletedSuccessfully);

    private static async ValueTask<string> LaterAsync(string value)
    {
        await Task.Yield();
        return value;
    }

    private static async Task WaitAsync(bool waits)
    {
        if (waits)
        {
            await Task.Yield();
        }
    }
}
