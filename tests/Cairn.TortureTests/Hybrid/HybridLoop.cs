using System.Diagnostics;
using Cairn.Caching;
using Cairn.TortureTests.Histories;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.TortureTests.Hybrid;

/// <summary>Random operations of one asynchronous flow on a cache, each recorded with its times.</summary>
/// <param name="cache">The cache.</param>
/// <param name="journal">Where it is recorded.</param>
/// <param name="random">What comes next.</param>
/// <param name="worker">A number that no other flow of the run has.</param>
/// <param name="hotKeys">About how many keys most operations are.</param>
internal sealed class HybridLoop(CairnHybridCache cache, Journal journal, Random random, int worker, int hotKeys)
{
    private const int OperationsAtLeast = 800;
    private const int OperationsBetweenPauses = 5;
    private const int KeysAtOnce = 8;

    private static readonly CairnEntryOptions s_plain = new();
    private static readonly CairnEntryOptions s_pastLocal = new() { Flags = HybridCacheEntryFlags.DisableLocalCacheRead };
    private static readonly CairnEntryOptions s_localOnly = new() { Flags = HybridCacheEntryFlags.DisableDistributedCacheWrite };
    private static readonly string[][] s_tags = [.. Enumerable.Range(0, HybridKeys.Tags).Select(tag => new[] { HybridKeys.TagName(tag) })];

    private long _number = (long)worker << 32;

    /// <summary>Works until it is over and something was done, or the journal is full.</summary>
    public async Task RunAsync(Func<bool> isOver)
    {
        for (int i = 1; (i <= OperationsAtLeast || !isOver()) && journal.Room > 4 * KeysAtOnce; i++)
        {
            await StepAsync().ConfigureAwait(false);
            if (i % OperationsBetweenPauses == 0)
            {
                await Task.Delay(1).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Looks for every key, making none.</summary>
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
                await GetAsync(key, s_plain).ConfigureAwait(false);
                break;
            case < 2_960:
                await GetAsync(key, s_localOnly).ConfigureAwait(false);
                break;
            case < 3_160:
                await GetAsync(key, s_pastLocal).ConfigureAwait(false);
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
            case < 3_920:
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

    private async ValueTask GetAsync(int key, CairnEntryOptions options)
    {
        long start = Stopwatch.GetTimestamp();
        try
        {
            // Some factories name the tag themselves, at their end.
            string name = HybridKeys.NameOf(key);
            string value = key % 3 == 0
                ? await cache.GetOrCreateAsync<string>(name, (context, _) => MakeAsync(key, options == s_localOnly, context), options).ConfigureAwait(false)
                : await cache.GetOrCreateAsync(name, _ => MakeAsync(key, options == s_localOnly, context: null), options, s_tags[HybridKeys.TagOf(key)]).ConfigureAwait(false);
            journal.Add(key, Effect.Read, HybridKeys.NumberOf(key, value), start, Stopwatch.GetTimestamp());
        }
        catch (SourceFailedException)
        {
            // This flow's factory, or the one that it waited for.
        }
    }

    private async ValueTask<string> MakeAsync(int key, bool isLocal, CacheFactoryContext<string>? context)
    {
        _number = HybridKeys.NextNumber(_number, isLocal);
        journal.Begin(key, Effect.Made, _number);
        switch (random.Next(3))
        {
            case 0:
                break;
            case 1:
                await Task.Yield();
                break;
            default:
                await Task.Delay(random.Next(1, 4)).ConfigureAwait(false);
                break;
        }

        context?.AddTag(HybridKeys.TagName(HybridKeys.TagOf(key)));
        bool hasFailed = random.Next(50) == 0;
        string value = HybridKeys.Value(key, _number, random);
        journal.End(hasFailed ? Effect.None : Effect.Made);
        return hasFailed ? throw new SourceFailedException() : value;
    }

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
        _number = HybridKeys.NextNumber(_number, isLocal: false);
        string value = HybridKeys.Value(key, _number, random);
        journal.Begin(key, Effect.Wrote, _number);
        await cache.SetAsync(HybridKeys.NameOf(key), value, s_plain, s_tags[HybridKeys.TagOf(key)]).ConfigureAwait(false);
        journal.End(Effect.Wrote);
    }

    private async ValueTask RemoveAsync(int key, Func<ValueTask> remove)
    {
        journal.Begin(key, Effect.Removed, 0);
        await remove().ConfigureAwait(false);
        journal.End(Effect.Removed);
    }
}

/// <summary>What a factory could not get.</summary>
internal sealed class SourceFailedException : Exception;
