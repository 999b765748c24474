using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>
/// The same calls of Microsoft's implementation and of this one, without a second level, return, throw and count the same. The exceptions are
/// the differences that docs/how-to/migrate.md names.
/// </summary>
public sealed class SameAsMicrosoftsTests
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    private static readonly Dictionary<string, Func<Subject, Task<object?>>> Cases = MakeCases();

    // Cases with two valid outcomes, and the row of the guide that names the difference.
    private static readonly Dictionary<string, (string Theirs, string Ours, string Row)> Differences = new(StringComparer.Ordinal)
    {
        ["fields of a class"] = ("0 and 2", "1 and 2", "Public fields of a class that JSON serializes"),
        ["key with a lone surrogate"] = ("made 1", "made 2", "A key with a lone surrogate"),
        ["set with a cancelled token"] = ("done", "OperationCanceledException", "`SetAsync` with a token that was cancelled before"),
        ["factory asks for its own key"] = ("never returns", "InvalidOperationException", "A factory that asks for its own key, also through other factories"),
    };

    internal static IEnumerable<string> RowsOfDifferences => Differences.Values.Select(difference => difference.Row);

    public static TheoryData<string> Names => [.. Cases.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Outcome_is_the_same_or_a_difference_that_is_known(string name)
    {
        string theirs = await OutcomeAsync(name, isMicrosofts: true);
        string ours = await OutcomeAsync(name, isMicrosofts: false);

        (string expectedTheirs, string expectedOurs, _) = Differences.TryGetValue(name, out (string, string, string) known) ? known : (theirs, theirs, "");
        Assert.Equal(expectedTheirs, theirs);
        Assert.Equal(expectedOurs, ours);
    }

    [Fact]
    public void Cache_with_a_null_key_is_the_one_without_a_key_in_both()
    {
        ServiceProvider theirs = new ServiceCollection().AddKeyedHybridCache(null).Services.BuildServiceProvider();
        ServiceProvider ours = new ServiceCollection().AddKeyedCairnHybridCache(null).Services.BuildServiceProvider();

        Assert.NotNull(theirs.GetService<HybridCache>());
        Assert.NotNull(ours.GetService<HybridCache>());
    }

    [Fact]
    public async Task Keyed_cache_takes_the_options_of_a_name_in_both()
    {
        await using ServiceProvider theirs = new ServiceCollection()
            .AddKeyedHybridCache("key", "options", options => options.MaximumKeyLength = 3).Services.BuildServiceProvider();
        await using ServiceProvider ours = new ServiceCollection()
            .AddKeyedCairnHybridCache("key", "options", options => options.MaximumKeyLength = 3).Services.BuildServiceProvider();

        foreach (ServiceProvider services in new[] { theirs, ours })
        {
            var subject = new Subject(services.GetRequiredKeyedService<HybridCache>("key"));
            Assert.Equal("made 2", await subject.AskTwiceAsync("long"));
            Assert.Null(services.GetService<HybridCache>());
        }
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("*")]
    public async Task Exception_of_a_bad_tag_names_the_parameter_in_both(string? tag)
    {
        await using ServiceProvider theirs = new ServiceCollection().AddHybridCache().Services.BuildServiceProvider();
        await using ServiceProvider ours = new ServiceCollection().AddCairnHybridCache().Services.BuildServiceProvider();

        foreach (ServiceProvider services in new[] { theirs, ours })
        {
            HybridCache cache = services.GetRequiredService<HybridCache>();
            ArgumentException thrown = await Assert.ThrowsAnyAsync<ArgumentException>(async () => await cache.SetAsync("key", 1, tags: ["good", tag!]));
            Assert.Equal("tags", thrown.ParamName);
        }
    }

    [Fact]
    public async Task Clock_of_the_services_counts_unless_the_options_name_one()
    {
        var clock = new ManualClock(hasTimers: true);
        await using ServiceProvider services = new ServiceCollection()
            .AddSingleton<TimeProvider>(clock).AddCairnHybridCache().Services.BuildServiceProvider();
        var subject = new Subject(services.GetRequiredService<HybridCache>());
        await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync);

        clock.Advance(TimeSpan.FromHours(1));

        Assert.Equal("made 2", await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync));
    }

    private static Dictionary<string, Func<Subject, Task<object?>>> MakeCases()
    {
        var cases = new Dictionary<string, Func<Subject, Task<object?>>>(StringComparer.Ordinal);
        (string Name, string? Key)[] keys =
        [
            ("null key", null), ("empty key", ""), ("key of white space", " "), ("key with a control character", "a\0b"),
            ("key with a lone surrogate", "\ud800"), ("key that is too long", new string('k', 1025)),
            ("key with the last control character of ASCII", "a\u001fb"), ("key with DEL", "a\u007fb"), ("key with a control character above ASCII", "a\u0085b"), ("longest key", new string('k', 1024)),
        ];
        foreach ((string name, string? key) in keys)
        {
            cases[name] = async subject => await subject.AskTwiceAsync(key!);
            cases[$"set, {name}"] = subject => DoneAsync(subject.Cache.SetAsync(key!, "set"));
            cases[$"remove, {name}"] = subject => DoneAsync(subject.Cache.RemoveAsync(key!));
        }

        foreach ((string name, string? tag) in new[] { ("null", null), ("empty", ""), ("white space", " "), ("everything", "*"), ("a word", "word") })
        {
            cases[$"remove by tag, {name}"] = subject => DoneAsync(subject.Cache.RemoveByTagAsync(tag!));
            cases[$"tag, {name}"] = async subject => await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, tags: [tag!]);
            cases[$"set with tag, {name}"] = subject => DoneAsync(subject.Cache.SetAsync("key", "set", tags: [tag!]));
        }

        cases["remove no keys"] = subject => DoneAsync(subject.Cache.RemoveAsync((IEnumerable<string>)null!));
        cases["remove a null key among others"] = subject => DoneAsync(subject.Cache.RemoveAsync(["other", null!]));
        cases["remove by no tags"] = subject => DoneAsync(subject.Cache.RemoveByTagAsync((IEnumerable<string>)null!));
        cases["remove by a null tag among others"] = subject => DoneAsync(subject.Cache.RemoveByTagAsync([null!, "other"]));
        cases["everything is removed by *"] = async subject =>
        {
            await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync);
            await subject.Cache.RemoveByTagAsync("*");
            return await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync);
        };
        cases["factory throws"] = async subject => await subject.Cache.GetOrCreateAsync<string>("key", _ => throw new FormatException("no"));
        cases["factory asks for its own key"] = async subject =>
        {
            Task<string> asking = subject.Cache.GetOrCreateAsync(
                "key", async token => await subject.Cache.GetOrCreateAsync("key", _ => new ValueTask<string>("inner"), cancellationToken: token)).AsTask();
            TimeSpan patience = subject.Cache is CairnHybridCache ? LongestWait : TimeSpan.FromMilliseconds(200);
            return await Task.WhenAny(asking, Task.Delay(patience)) == asking ? await asking : "never returns"; // Microsoft's does not, however long it takes.
        };
        cases["cancelled token"] = async subject => await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, cancellationToken: new CancellationToken(true));
        cases["set with a cancelled token"] = subject => DoneAsync(subject.Cache.SetAsync("key", "set", cancellationToken: new CancellationToken(true)));
        cases["factory is cancelled when all callers have left"] = async subject =>
        {
            using var cancellation = new CancellationTokenSource();
            var seen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Task<string> first = subject.Cache.GetOrCreateAsync("key", token => WaitAsync(seen, token), cancellationToken: cancellation.Token).AsTask();
            Task<string> second = subject.Cache.GetOrCreateAsync("key", token => WaitAsync(seen, token), cancellationToken: cancellation.Token).AsTask();
            await cancellation.CancelAsync();
            await seen.Task.WaitAsync(LongestWait);
            return $"{await FaultAsync(first)}, {await FaultAsync(second)}, {first.IsCanceled}";
        };
        cases["factory cancels itself"] = async subject => await subject.Cache.GetOrCreateAsync<string>("key", _ => throw new OperationCanceledException("own"));
        cases["state overload"] = async subject => await subject.Cache.GetOrCreateAsync("key", 5, (state, _) => new ValueTask<string>($"of {state}"));
        cases["fields of a class"] = async subject =>
        {
            await subject.Cache.SetAsync("key", new WithField { Field = 1, Property = 2 });
            WithField read = await subject.Cache.GetOrCreateAsync<WithField>("key", _ => throw new InvalidOperationException("It was set."));
            return $"{read.Field} and {read.Property}";
        };
        cases["items of a tuple"] = async subject =>
        {
            await subject.Cache.SetAsync("key", (1, "two"));
            return await subject.Cache.GetOrCreateAsync<(int, string)>("key", _ => throw new InvalidOperationException("It was set."));
        };
        cases["null is cached"] = async subject =>
        {
            int runs = 0;
            for (int i = 0; i < 2; i++)
            {
                await subject.Cache.GetOrCreateAsync<string?>("key", _ =>
                {
                    runs++;
                    return new ValueTask<string?>((string?)null);
                });
            }

            return runs;
        };
        cases["value of another type"] = async subject =>
        {
            await subject.Cache.SetAsync("key", "text");
            return await subject.Cache.GetOrCreateAsync("key", _ => new ValueTask<int>(5));
        };
        cases["expiration below zero"] = async subject => await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, new() { Expiration = TimeSpan.FromSeconds(-1) });
        cases["expiration of zero"] = async subject => await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, new() { Expiration = TimeSpan.Zero });
        foreach (HybridCacheEntryFlags flag in Enum.GetValues<HybridCacheEntryFlags>())
        {
            cases[$"flag {flag}"] = async subject =>
            {
                var options = new HybridCacheEntryOptions { Flags = flag };
                string first = await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, options);
                string second = await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync, options);
                return $"{first}, {second}, {await subject.Cache.GetOrCreateAsync("key", subject.MakeAsync)}";
            };
        }

        return cases;
    }

    private static async Task<object?> DoneAsync(ValueTask change)
    {
        await change;
        return "done";
    }

    private static async ValueTask<string> WaitAsync(TaskCompletionSource seen, CancellationToken token)
    {
        try
        {
            await Task.Delay(Timeout.Infinite, token);
        }
        finally
        {
            seen.TrySetResult();
        }

        return "never";
    }

    private static async Task<string> FaultAsync(Task<string> task)
    {
        try
        {
            return await task.WaitAsync(LongestWait);
        }
        catch (OperationCanceledException cancelled)
        {
            return cancelled.GetType().Name;
        }
    }

    private static async Task<string> OutcomeAsync(string name, bool isMicrosofts)
    {
        var services = new ServiceCollection();
        if (isMicrosofts)
        {
            services.AddHybridCache();
        }
        else
        {
            services.AddCairnHybridCache();
        }

        await using ServiceProvider provider = services.BuildServiceProvider();
        try
        {
            return $"{await Cases[name](new Subject(provider.GetRequiredService<HybridCache>()))}";
        }
        catch (ArgumentNullException) when (name.Contains("tag", StringComparison.Ordinal))
        {
            return nameof(ArgumentException);
        }
#pragma warning disable CA1031 // The test compares the exceptions.
        catch (Exception thrown)
#pragma warning restore CA1031
        {
            return thrown.GetType().Name;
        }
    }

    private sealed class Subject(HybridCache cache)
    {
        private int _runs;

        public HybridCache Cache => cache;

        public ValueTask<string> MakeAsync(CancellationToken token) => new($"made {++_runs}");

        public async Task<string> AskTwiceAsync(string key)
        {
            await cache.GetOrCreateAsync(key, MakeAsync);
            return await cache.GetOrCreateAsync(key, MakeAsync);
        }
    }

    private sealed class WithField
    {
#pragma warning disable CA1051, S1104 // Fields are under test.
        public int Field;
#pragma warning restore CA1051, S1104

        public int Property { get; set; }
    }
}
