using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using Cairn.Caching;
using Cairn.Caching.Flights;
using Cairn.Caching.Operations;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Internal;
using Microsoft.Extensions.Options;

namespace Cairn.TortureTests.Hybrid;

/// <summary>
/// Performs random operations on one or two caches over one second level, one after the other, and checks each against the model.
/// Background work of a cache ends before the next operation.
/// </summary>
internal sealed class HybridModelRun : IDisposable
{
    private const int Keys = 5;
    private const int Tags = 3;

    private static readonly TimeSpan LongestRefresh = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan[] s_steps =
    [
        TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(7), TimeSpan.FromSeconds(15),
        TimeSpan.FromSeconds(31), TimeSpan.FromSeconds(61), TimeSpan.FromSeconds(200), TimeSpan.FromHours(1),
    ];

    private readonly Random _random;
    private readonly ManualClock _clock = new();
    private readonly StoreDirectory _directory = new();
    private readonly List<CairnStore> _stores = [];
    private readonly List<CairnHybridCache> _caches = [];
    private readonly List<string> _log = [];
    private readonly CairnEntryOptions _options;
    private readonly HybridModel _model;
    private int _number;

    public HybridModelRun(int seed, string level, int caches)
    {
        _random = new Random(seed);
        ModelOptions options = ChooseOptions(level == "none");
        _model = new HybridModel(options);
        _log.Add(options.ToString());
        _options = new CairnEntryOptions
        {
            Expiration = options.Expiration,
            LocalCacheExpiration = options.LocalExpiration,
            SlidingExpiration = options.Sliding,
            Jitter = options.Jitter,
            FailSafe = options.FailSafe,
            FailSafeThrottle = options.Throttle,
            StaleWhileRevalidate = options.Revalidate,
            EagerRefreshThreshold = options.Eager,
        };
        var memory = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions { Clock = new MemoryClock(_clock) }));
        for (int i = 0; i < caches; i++)
        {
            _caches.Add(CairnHybridCache.Create(OptionsOf(level, memory)));
        }
    }

    /// <summary>Performs <paramref name="operations"/> operations.</summary>
    /// <exception cref="ModelFaultException">An operation violated the model. The message lists the operations before it.</exception>
    public async Task RunAsync(int operations)
    {
        for (int i = 0; i < operations; i++)
        {
            int cache = _random.Next(_caches.Count);
            await StepAsync(_caches[cache], cache).ConfigureAwait(false);
        }
    }

    public void Dispose()
    {
        _caches.ForEach(cache => cache.Dispose());
        _stores.ForEach(store => store.Dispose());
        _directory.Dispose();
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_parts")]
    private static extern ref CacheParts PartsOf(CairnHybridCache cache);

    private ModelOptions ChooseOptions(bool isAlone) => new()
    {
        IsAlone = isAlone,
        Expiration = TimeSpan.FromSeconds(60),
        LocalExpiration = _random.Next(3) == 0 ? TimeSpan.FromSeconds(20) : null,
        Sliding = _random.Next(3) == 0 ? TimeSpan.FromSeconds(16) : TimeSpan.Zero,
        Jitter = _random.Next(3) == 0 ? TimeSpan.FromSeconds(10) : TimeSpan.Zero,
        FailSafe = _random.Next(2) == 0 ? TimeSpan.FromSeconds(300) : TimeSpan.Zero,
        Throttle = TimeSpan.FromSeconds(10),
        Revalidate = _random.Next(3) == 0 ? TimeSpan.FromSeconds(20) : TimeSpan.Zero,
        Eager = _random.Next(3) == 0 ? 0.5 : 0,
    };

    private CairnHybridCacheOptions OptionsOf(string level, MemoryDistributedCache memory)
    {
        var options = new CairnHybridCacheOptions { TimeProvider = _clock, DefaultEntryOptions = _options };
        switch (level)
        {
            case "none":
                break;
            case "memory":
                options.DistributedCache = memory;
                break;
            default:
                _stores.Add(CairnStore.Open(_directory.Options with { TimeProvider = _clock }));
                options.StoreFile = new CairnStoreFileOptions { Store = _stores[^1] };
                break;
        }

        return options;
    }

    // The clock interface that the memory cache requires.
    private sealed class MemoryClock(TimeProvider clock) : ISystemClock
    {
        public DateTimeOffset UtcNow => clock.GetUtcNow();
    }

    private async Task StepAsync(CairnHybridCache cache, int index)
    {
        string key = string.Create(CultureInfo.InvariantCulture, $"key:{_random.Next(Keys)}");
        switch (_random.Next(100))
        {
            case < 35:
                await GetAsync(cache, index, key).ConfigureAwait(false);
                break;
            case < 45:
                await LookAsync(cache, index, key).ConfigureAwait(false);
                break;
            case < 50:
                Expect(index, "try", key, cache.TryGet(key, out string? local) ? local : null, mustFind: false, isStale: false);
                break;
            case < 53:
                CacheResult<string> many = (await cache.GetManyAsync<string>([key]).ConfigureAwait(false))[0];
                Expect(index, "many", key, many.Value, mustFind: true, isStale: false);
                break;
            case < 65:
                string[] tags = ChooseTags();
                int number = ++_number;
                Log(index, $"set {key} {number} {string.Join(',', tags)}");
                await cache.SetAsync(key, Text(number), options: (CairnEntryOptions?)null, tags).ConfigureAwait(false);
                _model.Keep(key, number, tags, _clock.Now);
                break;
            case < 72:
                Log(index, $"remove {key}");
                await cache.RemoveAsync(key).ConfigureAwait(false);
                _model.Remove(key);
                break;
            case < 76:
                Log(index, $"expire {key}");
                await cache.ExpireAsync(key).ConfigureAwait(false);
                _model.Expire(key, _clock.Now);
                break;
            case < 81:
                string tag = TagName(_random.Next(Tags));
                Log(index, $"remove {tag}");
                await cache.RemoveByTagAsync(tag).ConfigureAwait(false);
                _model.RemoveTag(tag);
                break;
            case < 82:
                Log(index, "clear");
                await cache.ClearAsync().ConfigureAwait(false);
                _model.Clear();
                break;
            default:
                TimeSpan step = s_steps[_random.Next(_random.Next(s_steps.Length) + 1)];
                Log(index, $"wait {step}");
                _clock.Advance(step);
                break;
        }
    }

    private async Task GetAsync(CairnHybridCache cache, int index, string key)
    {
        ModelValue? before = _model.Find(key);
        bool fails = _random.Next(4) == 0;
        bool isKept = _random.Next(6) != 0;
        bool isLate = _random.Next(2) == 0;
        string[] tags = ChooseTags();
        int made = 0;
        string? text;
        try
        {
            text = await cache.GetOrCreateAsync<string>(
                key,
                (context, _) =>
                {
                    made = ++_number;
                    Array.ForEach(isLate ? tags : [], context.AddTag);
                    if (!isKept)
                    {
                        context.DoNotCache();
                    }

                    return fails ? throw new SourceFailedException() : new ValueTask<string>(Text(made));
                },
                options: null,
                isLate ? null : tags).ConfigureAwait(false);
        }
        catch (SourceFailedException)
        {
            text = null;
        }

        await WaitUntilIdleAsync(cache).ConfigureAwait(false);
        bool isRefreshed = text is not null && made != 0 && NumberOf(text) != made && !fails && isKept;
        long start = Stopwatch.GetTimestamp();
        while (isRefreshed && !(cache.TryGet(key, out string? refreshed) && NumberOf(refreshed) == made) && Stopwatch.GetElapsedTime(start) < LongestRefresh)
        {
            // The flight ends when the second level has the value; the first level has it soon after.
            await Task.Yield();
        }

        Log(index, $"get {key}: {NumberOf(text)}; made {made}{(fails ? ", failed" : "")}{(isKept ? "" : ", not to be kept")} {string.Join(',', tags)}{(isLate ? ", late" : "")}");
        DateTimeOffset now = _clock.Now;
        bool isOld = text is not null && NumberOf(text) == before?.Number;
        if (isOld)
        {
            bool isFallback = made != 0 && fails && _model.IsPerhapsUsable(before!, now);
            Require(_model.IsPerhapsFresh(before!, now) || _model.IsPerhapsRevalidated(before!, now) || isFallback, "An expired value was served.");
            if (isFallback)
            {
                _model.Throttle(key, now);
            }

            _model.Use(key, now);
        }
        else
        {
            Require(before is null || !_model.IsSurelyFresh(before, now), "A fresh value was not served.");
            Require(text is null ? fails : NumberOf(text) == made, "A value was served that has been replaced or removed.");
            Require(text is not null || before is null || !_model.IsSurelyUsable(before, now), "No expired value was served instead of a failure.");
        }

        if (made != 0 && !fails && isKept)
        {
            _model.Keep(key, made, tags, now);
        }
    }

    private static async Task WaitUntilIdleAsync(CairnHybridCache cache)
    {
        while (!PartsOf(cache).Flights.IsEmpty)
        {
            await Task.Yield();
        }
    }

    private async Task LookAsync(CairnHybridCache cache, int index, string key)
    {
        bool allowStale = _random.Next(2) == 0;
        CacheResult<string> found = await cache.GetAsync<string>(key, allowStale: allowStale).ConfigureAwait(false);
        Require(allowStale || !found.IsStale, "An expired value was found that was not asked for.");
        Expect(index, "look", key, found.IsFound ? found.Value : null, mustFind: true, found.IsStale);
    }

    private void Expect(int index, string operation, string key, string? text, bool mustFind, bool isStale)
    {
        ModelValue? value = _model.Find(key);
        Log(index, $"{operation} {key}: {NumberOf(text)}{(isStale ? " stale" : "")}");
        if (text is null)
        {
            Require(!mustFind || value is null || !_model.IsSurelyFresh(value, _clock.Now), "A fresh value was not found.");
            return;
        }

        Require(value?.Number == NumberOf(text), "A value was found that has been replaced or removed.");
        Require(isStale ? _model.IsPerhapsUsable(value!, _clock.Now) : _model.IsPerhapsFresh(value!, _clock.Now), "An expired value was found.");
        if (!isStale)
        {
            _model.Use(key, _clock.Now);
        }
    }

    private string[] ChooseTags() => [.. Enumerable.Range(0, Tags).Where(_ => _random.Next(3) == 0).Select(TagName)];

    private static string TagName(int tag) => string.Create(CultureInfo.InvariantCulture, $"tag:{tag}");

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int NumberOf(string? text) => text is null ? 0 : int.Parse(text, CultureInfo.InvariantCulture);

    private void Log(int cache, string what) => _log.Add($"{_clock.Now:HH:mm:ss.fff} cache {cache}: {what}");

    private void Require(bool isTrue, string otherwise)
    {
        if (!isTrue)
        {
            throw new ModelFaultException($"{otherwise}\n{_log[0]}\n{string.Join('\n', _log.Skip(1).TakeLast(60))}");
        }
    }
}

/// <summary>Thrown when a cache does something that the model does not allow.</summary>
internal sealed class ModelFaultException(string message) : Exception(message);
