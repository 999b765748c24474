using System.Collections.Concurrent;
using Cairn.Caching.Timing;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Dependencies;

// Which keys depend on which change tokens, for as long as the values may be of use, also when the first level has evicted them:
// the second level still has them then. A token that does not call back is looked at once a second.
internal sealed class DependencyWatch(CacheClock clock, Action<string> onChanged) : IDisposable
{
    private const int FewestToSweep = 256;
    private static readonly TimeSpan LookEvery = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<string, Watched> _watched = new(StringComparer.Ordinal);
    private readonly Lock _looking = new();
    private ITimer? _timer;
    private int _sweepAt = FewestToSweep;
    private volatile bool _isUsed;

    public int Count => _watched.Count;

    /// <summary>The key has a new value, which depends on these tokens.</summary>
    public void Set(string key, IReadOnlyList<IChangeToken> tokens, long usableUntil)
    {
        // A drop that does not see it yet came before this.
        _isUsed = true;
        var watched = new Watched(this, key, usableUntil);
        _watched.AddOrUpdate(
            key,
            static (_, added) => added,
            static (_, replaced, added) =>
            {
                replaced.Dispose();
                return added;
            },
            watched);
        watched.Begin(tokens);
        if (watched.IsPassive)
        {
            Look();
        }

        if (_watched.Count >= _sweepAt)
        {
            Sweep();
        }
    }

    /// <summary>The key has no value any more, or one that depends on nothing.</summary>
    public void Drop(string key)
    {
        // Most caches watch nothing, and to ask a concurrent dictionary whether it is empty takes all its locks.
        if (_isUsed && _watched.TryRemove(key, out Watched? watched))
        {
            watched.Dispose();
        }
    }

    public void Dispose()
    {
        lock (_looking)
        {
            _timer?.Dispose();
        }

        foreach (Watched watched in _watched.Values)
        {
            watched.Dispose();
        }

        _watched.Clear();
    }

    private void Look()
    {
        lock (_looking)
        {
            _timer ??= clock.Provider.CreateTimer(static watch => ((DependencyWatch)watch!).LookAtPassive(), this, LookEvery, LookEvery);
        }
    }

    private void LookAtPassive()
    {
        foreach (Watched watched in _watched.Values)
        {
            watched.Look();
        }

        Sweep();
    }

    private void Sweep()
    {
        long now = clock.NowMs();
        foreach ((string key, Watched watched) in _watched)
        {
            if (watched.UsableUntil <= now && _watched.TryRemove(new KeyValuePair<string, Watched>(key, watched)))
            {
                watched.Dispose();
            }
        }

        _sweepAt = Math.Max(FewestToSweep, _watched.Count * 2);
    }

    private void Changed(Watched watched)
    {
        if (_watched.TryRemove(new KeyValuePair<string, Watched>(watched.Key, watched)))
        {
            watched.Dispose();
            onChanged(watched.Key);
        }
    }

    private sealed class Watched(DependencyWatch owner, string key, long usableUntil) : IDisposable
    {
        private readonly List<IDisposable> _registrations = [];
        private readonly List<IChangeToken> _passive = [];
        private bool _isDisposed;

        public string Key { get; } = key;

        public long UsableUntil { get; } = usableUntil;

        public bool IsPassive => _passive.Count > 0;

        public void Begin(IReadOnlyList<IChangeToken> tokens)
        {
            foreach (IChangeToken token in tokens)
            {
                if (!token.ActiveChangeCallbacks)
                {
                    _passive.Add(token);
                    continue;
                }

                // A token that has changed already calls at once.
                IDisposable registration = token.RegisterChangeCallback(static watched => ((Watched)watched!).OnChanged(), this);
                lock (_registrations)
                {
                    if (!_isDisposed)
                    {
                        _registrations.Add(registration);
                        continue;
                    }
                }

                registration.Dispose();
            }

            Look();
        }

        public void Look()
        {
            if (_passive.Exists(token => token.HasChanged))
            {
                OnChanged();
            }
        }

        public void Dispose()
        {
            IDisposable[] registrations;
            lock (_registrations)
            {
                _isDisposed = true;
                registrations = [.. _registrations];
                _registrations.Clear();
            }

            foreach (IDisposable registration in registrations)
            {
                registration.Dispose();
            }
        }

        private void OnChanged() => owner.Changed(this);
    }
}
