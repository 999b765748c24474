using System.Diagnostics;
using Cairn.Caching;
using Cairn.TortureTests.Histories;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.TortureTests.Hybrid;

/// <summary>Performs random operations of one asynchronous flow on a cache and records each with its times.</summary>
/// <param name="cache">The cache.</param>
/// <param name="made">Records the value that a factory created. Some factories end after the calls that started them.</param>
/// <param name="made">Records the value that a factory created. Some factories outlive the calls that started them.</param>
/// <param name="random">Chooses the operations.</param>
/// <param name="worker">A number that no other flow of the run has.</param>
/// <param name="hotKeys">The number of keys that most operations use.</param>
internal sealed class HybridLoop(CairnHybridCache cache, Journal journal, Action<Operation> made, Random random, int worker, int hotKeys)
{
    private const int OperationsAtLeast = 800;
    private const int OperationsBetweenPauses = 5;
    private const int KeysAtOnce = 8;

    private static readonly CairnEntryOptions s_plain = new();

    private static readonly CairnEntryOptions s_refreshed = new()
    {
        Expiration = TimeSpan.FromMilliseconds(150),
        EagerRefreshThreshold = 0.5,
        StaleWhileRevalidate = TimeSpan.FromMilliseconds(100),
    };

    private static readonly CairnEntryOptions s_forgiving = new()
    {
        Expiration = TimeSpan.FromMilliseconds(100),
        FailSafe = TimeSpan.FromSeconds(10),
        FailSafeThrottle = TimeSpan.FromMilliseconds(20),
        FactorySoftTimeout = TimeSpan.FromMilliseconds(2),
    };

    private static readonly string[][] s_tags = [.. Enumerable.Range(0, HybridKeys.Tags).Select(tag => new[] { HybridKeys.TagName(tag) })];

    private long _number = (long)worker << 32;

    /// <summary>Works until <paramref name="isOver"/> returns true, for a minimum number of operations, or until the journal is full.</summary>
    public async Task RunAsync(Func<bool> isOver)
    {
        for (int i = 1; (i <= OperationsAtLeast || !isOver()) && journal.Room > 4 * KeysAtOnce; i++)
        {
            await StepAsync().ConfigureAwait(false);
            if (i % OperationsBetweenPauses == 0)
            {
                await Task.Delay(1).ConfigureAwait(false); // Lets time pass, so that values expire between operations.
            }
        }
    }

    /// <summary>Looks up every key without creating values.</summary>
    public async Task LookAtAllAsync()
    {
        for (int key = 0; key < HybridKeys.Count; key++)
        {
            await LookAsync(key).ConfigureAwait(false);
        }
    }

    private async ValueTask StepAsync()
    {
        int key = HybridKeys.Choose(random, hotKeys);
        switch (random.Next(4_000))
        {
            case < 2_800:
                await GetAsync(key, HybridCacheEntryFlags.None).ConfigureAwait(false);
                break;
            case < 2_960:
                await GetAsync(key, HybridCacheEntryFlags.DisableDistributedCacheWrite).ConfigureAwait(false);
                break;
            case < 3_160:
                await GetAsync(key, HybridCacheEntryFlags.DisableLocalCacheRead).ConfigureAwait(false);
                break;
            case < 3_320:
                await LookAsync(key).ConfigureAwait(false);
                break;
            case < 3_400:
                await LookForManyAsync().ConfigureAwait(false);
                break;
            case < 3_680:
                await SetAsync(key).ConfigureAwait(false);
                break;
            case < 3_900:
                await RemoveAsync(key, () => cache.RemoveAsync(HybridKeys.NameOf(key))).ConfigureAwait(false);
                break;
            case < 3_920 when !HybridKeys.Expires(key):
                await RemoveAsync(key, () => cache.ExpireAsync(HybridKeys.NameOf(key))).ConfigureAwait(false);
                break;
            case < 3_999:
                int tag = random.Next(HybridKeys.Tags);
                await RemoveAsync(HybridKeys.OfTag(tag), () => cache.RemoveByTagAsync(HybridKeys.TagName(tag))).ConfigureAwait(false);
                break;
            default:
                await RemoveAsync(HybridKeys.Everything, () => cache.ClearAsync()).ConfigureAwait(false);
                break;
        }
    }

    private async ValueTask GetAsync(int key, HybridCacheEntryFlags flags)
    {
        CairnEntryOptions options = OptionsOf(key) with { Flags = flags };
        bool isLocal = flags == HybridCacheEntryFlags.DisableDistributedCacheWrite;
        long start = Stopwatch.GetTimestamp();
        try
        {
            // Some factories set the tag themselves when they end.
            string name = HybridKeys.NameOf(key);
            string value = key % 3 == 0
                ? await cache.GetOrCreateAsync<string>(name, (context, _) => MakeAsync(key, isLocal, context), options).ConfigureAwait(false)
                : await cache.GetOrCreateAsync(name, _ => MakeAsync(key, isLocal, context: null), options, s_tags[HybridKeys.TagOf(key)]).ConfigureAwait(false);
            journal.Add(key, Effect.Read, HybridKeys.NumberOf(key, value), start, Stopwatch.GetTimestamp());
        }
        catch (SourceFailedException)
        {
            // The value comes from this flow's factory, or from the one that it waited for.
        }
    }

    private async ValueTask<string> MakeAsync(int key, bool isLocal, CacheFactoryContext<string>? context)
    {
        long start = Stopwatch.GetTimestamp();
        long number = NextNumber(isLocal);
        var chance = new Random((int)number ^ worker);
        switch (chance.Next(3))
        {
            case 0:
                break;
            case 1:
                await Task.Yield();
                break;
            default:
                await Task.Delay(chance.Next(1, 4)).ConfigureAwait(false); // A factory that takes time, around the soft time-out.
                break;
        }

        context?.AddTag(HybridKeys.TagName(HybridKeys.TagOf(key)));
        if (chance.Next(HybridKeys.Expires(key) ? 4 : 50) == 0)
        {
            throw new SourceFailedException();
        }

        string value = HybridKeys.Value(key, number, chance);
        made(new Operation(key, Effect.Made, number, start, Stopwatch.GetTimestamp(), worker));
        return value;
    }

    // Thread-safe, because factories may run at the same time as this flow. The lowest bit marks values for the first level only.
    private long NextNumber(bool isLocal) => Interlocked.Add(ref _number, 2) + (isLocal ? 1 : 0);

    private static CairnEntryOptions OptionsOf(int key) => !HybridKeys.Expires(key) ? s_plain : key % 4 == 1 ? s_refreshed : s_forgiving;

    private async ValueTask LookAsync(int key)
    {
        long start = Stopwatch.GetTimestamp();
        CacheResult<string> found = await cache.GetAsync<string>(HybridKeys.NameOf(key)).ConfigureAwait(false);
        if (found.IsFound)
        {
            journal.Add(key, Effect.Read, HybridKeys.NumberOf(key, found.Value!), start, Stopwatch.GetTimestamp());
        }
    }

    private async ValueTask LookForManyAsync()
    {
        int[] keys = [.. Enumerable.Range(0, KeysAtOnce).Select(_ => HybridKeys.Choose(random, hotKeys))];
        long start = Stopwatch.GetTimestamp();
        CacheResult<string>[] found = await cache.GetManyAsync<string>([.. keys.Select(HybridKeys.NameOf)]).ConfigureAwait(false);
        long end = Stopwatch.GetTimestamp();
        for (int i = 0; i < keys.Length; i++)
        {
            if (found[i].IsFound)
            {
                journal.Add(keys[i], Effect.Read, HybridKeys.NumberOf(keys[i], found[i].Value!), start, end);
            }
        }
    }

    private async ValueTask SetAsync(int key)
    {
        long number = NextNumber(isLocal: false);
        string value = HybridKeys.Value(key, number, random);
        journal.Begin(key, Effect.Wrote, number);
        await cache.SetAsync(HybridKeys.NameOf(key), value, OptionsOf(key), s_tags[HybridKeys.TagOf(key)]).ConfigureAwait(false);
        await UntilNothingIsPendingAsync().ConfigureAwait(false);
        journal.End(Effect.Wrote);
    }

    private async ValueTask RemoveAsync(int key, Func<ValueTask> remove)
    {
        journal.Begin(key, Effect.Removed, 0);
        await remove().ConfigureAwait(false);
        await UntilNothingIsPendingAsync().ConfigureAwait(false);
        journal.End(Effect.Removed);
    }

    // Other machines see a pending change only when it is performed. The change counts from then, so the flow waits for that.
    private async ValueTask UntilNothingIsPendingAsync()
    {
        while (cache.LevelHealth.PendingChanges > 0)
        {
            await Task.Delay(1).ConfigureAwait(false); // No event reports the end.
        }
    }
}

/// <summary>Thrown by a factory whose source failed.</summary>
internal sealed class SourceFailedException : Exception;
