using System.Collections.Concurrent;
using Cairn.FileStore.Entries;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Engine;

/// <summary>
/// The change tokens of callers. Requires the engine's gate; callbacks run on the thread pool. A token cannot detect that its caller has
/// discarded it, so the number of watched keys is limited: at the limit, the oldest token fires to make room, and its caller asks for another.
/// </summary>
internal sealed class ChangeTokens(TokenSignal signal)
{
    public const int KeysAtMost = 65_536;

    private readonly Dictionary<string, LinkedListNode<Watched>> _byKey = new(StringComparer.Ordinal);
    private readonly LinkedList<Watched> _byAge = [];
    private CancellationTokenSource? _forAll;

    public bool HasAny => _byKey.Count > 0 || _forAll is not null;

    public IChangeToken For(string key, Entry? now)
    {
        if (!_byKey.TryGetValue(key, out LinkedListNode<Watched>? watched))
        {
            if (_byKey.Count == KeysAtMost)
            {
                Fire(_byAge.First!);
            }

            watched = _byAge.AddLast(new Watched(key, ValueOf(now)));
            _byKey.Add(key, watched);
        }

        return new CancellationChangeToken(watched.Value.Source.Token);
    }

    public IChangeToken ForAll() => new CancellationChangeToken((_forAll ??= new CancellationTokenSource()).Token);

    /// <summary>Fires the tokens of these keys whose values have changed.</summary>
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

    /// <summary>Fires the tokens of all keys whose values have changed.</summary>
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
        if (_byKey.TryGetValue(key, out LinkedListNode<Watched>? watched)
            && !(now is null ? watched.Value.Entry is null : now.SaysTheSameAs(watched.Value.Entry)))
        {
            Fire(watched);
        }
    }

    private void Fire(LinkedListNode<Watched> watched)
    {
        _byKey.Remove(watched.Value.Key);
        _byAge.Remove(watched);
        signal.Fire(watched.Value.Source);
    }

    private void FireForAll()
    {
        if (_forAll is { } source)
        {
            _forAll = null;
            signal.Fire(source);
        }
    }

    private sealed record Watched(string Key, Entry? Entry)
    {
        public CancellationTokenSource Source { get; } = new();
    }
}
