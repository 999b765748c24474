using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;
using Microsoft.Extensions.Caching.Memory;

namespace Cairn.Benchmarks.Store;

/// <summary>
/// Compares gets and sets with short string keys, of entries that expire, and gets of missing keys. The peer is <c>MemoryCache</c>, with
/// the same keys and the same time to live.
/// </summary>
internal static class ExpiringCases
{
    private static readonly TimeSpan TimeToLive = TimeSpan.FromHours(1);

    public static void Measure(AreaRun run, StoreScale scale) => run.Measure($"expiring entries, {scale.Size}", scale.Rounds, group =>
    {
        var keys = Names("user:", scale.Entries);
        var longer = Names("user:profile:v2:", scale.Entries);
        var requests = KeyNumbers.Draw(Distribution.Uniform, scale.Entries, scale.Operations, seed: 1);
        var store = group.Own(BenchmarkStore.Create(
            run.Settings.Folder,
            "expiring",
            BenchmarkStore.CapacityFor(scale.Entries * 2L, Requests.KeyBytes, StoreScale.ValueBytes),
            Requests.KeyBytes,
            StoreScale.ValueBytes));
        var peer = group.Own(new MemoryCache(new MemoryCacheOptions()));
        var value = new byte[StoreScale.ValueBytes];
        foreach (var names in new[] { keys, longer })
        {
            UsedCache.Fill(scale.Entries, number => store.DefaultCollection.Set(names[number], value, TimeToLive));
            UsedCache.Fill(scale.Entries, number => peer.Set(names[number], new byte[StoreScale.ValueBytes], TimeToLive));
        }

        Compare("get, short string key", keys, (store, key, buffer) => store.TryGet(key, buffer, out int _), Get);
        Compare("get, string key", longer, (store, key, buffer) => store.TryGet(key, buffer, out int _), Get);
        Compare("set, short string key", keys, (store, key, buffer) => store.Set(key, buffer, TimeToLive), Set);
        Compare("set, string key", longer, (store, key, buffer) => store.Set(key, buffer, TimeToLive), Set);
        Compare(
            "get, missing string key",
            Names("absent:", scale.Entries),
            (store, key, buffer) => !store.TryGet(key, buffer, out int _),
            (cache, key, _) => !cache.TryGetValue(key, out object? _));

        void Compare(
            string name,
            string[] names,
            Func<CairnCollection, string, byte[], bool> act,
            Func<MemoryCache, string, byte[], bool> actOfPeer)
        {
            // New strings, as a program makes them for its requests.
            string[] ordered = [.. requests.Select(number => new string(names[number].AsSpan()))];
            group.Compare(
                $"{name}, expiring entries, {scale.Size}",
                group.Enter(new KeyedWork<CairnCollection>(CairnSubject.Name, store.DefaultCollection, ordered, act)),
                group.Enter(new KeyedWork<MemoryCache>(MemoryCachePeer.Name, peer, ordered, actOfPeer)));
        }
    });

    private static string[] Names(string prefix, int count) =>
        [.. Enumerable.Range(0, count).Select(number => string.Create(CultureInfo.InvariantCulture, $"{prefix}{number}"))];

    private static bool Get(MemoryCache cache, string key, byte[] buffer)
    {
        if (!cache.TryGetValue(key, out byte[]? value))
        {
            return false;
        }

        value!.CopyTo(buffer, 0);
        return true;
    }

    private static bool Set(MemoryCache cache, string key, byte[] buffer)
    {
        cache.Set(key, buffer.AsSpan().ToArray(), TimeToLive);
        return true;
    }

    private sealed class KeyedWork<TCache>(string name, TCache cache, string[] keys, Func<TCache, string, byte[], bool> act)
        : OperationContender(name, keys.Length)
    {
        private readonly byte[] _buffer = new byte[StoreScale.ValueBytes];

        protected override void Run(int first, int count)
        {
            for (var i = first; i < first + count; i++)
            {
                if (!act(cache, keys[i], _buffer))
                {
                    Misses++;
                }
            }
        }
    }
}
