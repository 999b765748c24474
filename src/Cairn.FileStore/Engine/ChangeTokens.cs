using System.Collections.Concurrent;
using Cairn.FileStore.Entries;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Engine;

/// <summary>Who wants to know of changes. Used under the engine's gate; callbacks run on the thread pool.</summary>
internal sealed class ChangeTokens
{
    private readonly Dictionary<string, Watched> _byKey = new(StringComparer.Ordinal);
    private CancellationTokenSource? _forAll;

    public bool HasAny => _byKey.Count > 0 || _forAll is not null;

    public IChangeToken For(string key, Entry? now)
    {
        if (!_byKey.TryGetValue(key, out Watched? watched))
        {
            _byKey.Add(key, watched = new Watched(ValueOf(now)));
        }

        return new CancellationChangeToken(watched.Source.Token);
    }

    public IChangeToken ForAll() => new CancellationChangeToken((_forAll ??= new CancellationTokenSource()).Token);

    /// <summary>These keys may have changed.</summary>
    public void Report(ReadOnlySpan<Entry> changes)
    {
        if (changes.IsEmpty)
        {
            return;
        }

        FireForAll();
        if (_byKey.Count > 0)
        {
            foreach (Entry change in changes)
            {
                Compare(change.Key, change);
            }
        }
    }

    /// <summary>Anything may have changed.</summary>
    public void ReportAll(EntryTable table)
    {
        FireForAll();
        foreach (string key in (string[])[.. _byKey.Keys])
        {
            Compare(key, table.Find(key));
        }
    }

    private static Entry? ValueOf(Entry? entry) => entry?.Value is null ? null : entry;

    private void Compare(string key, Entry? now)
    {
        now = ValueOf(now);
        if (_byKey.TryGetValue(key, out Watched? watched) && !(now is null ? watched.Entry is null : now.SaysTheSameAs(watched.Entry)))
        {
            _byKey.Remove(key);
            Fire(watched.Source);
        }
    }

    private void FireForAll()
    {
        if (_forAll is { } source)
        {
            _forAll = null;
            Fire(source);
        }
    }

    // Not here: what is called back may well use the cache.
    private static void Fire(CancellationTokenSource source) =>
        ThreadPool.UnsafeQueueUserWorkItem(static source => source.Cancel(), source, preferLocal: false);

    private sealed record Watched(Entry? Entry)
    {
        public CancellationTokenSource Source { get; } = new();
    }
}
