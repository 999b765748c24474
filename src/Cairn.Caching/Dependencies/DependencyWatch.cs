using Cairn.Caching.Timing;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Dependencies;

// The change tokens that keys depend on, watched as long as the values may be usable. That includes keys that the first level has evicted,
// because the second level still has them. A token that does not call back is polled once a second. At most KeysAtMost keys are watched: if
// another one needs room, the oldest counts as changed, because its changes would no longer be noticed.
internal sealed class DependencyWatch(CacheClock clock, Action<string> onChanged, Action<string, Exception>? onFailed = null) : IDisposable
{
    public const int KeysAtMost = 100_000;

    private const int FewestToSweep = 256;
    private static readonly TimeSpan LookEvery = TimeSpan.FromSeconds(1);

    // Guards both collections, which have the same content. Registrations are not disposed under it: disposal waits for callbacks, which take
    // it.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, LinkedListNode<Watched>> _watched = new(StringComparer.Ordinal);
    private readonly LinkedList<Watched> _byAge = [];
    private ITimer? _timer;
    private int _sweepAt = FewestToSweep;
    private volatile bool _isUsed;

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _watched.Count;
            }
        }
    }

    /// <summary>Watches the tokens of a key's new value.</summary>
    public void Set(string key, IReadOnlyList<IChangeToken> tokens, long usableUntil)
    {
        // A concurrent Drop that does not see this yet precedes this call.
        _isUsed = true;
        var watched = new Watched(this, key, usableUntil);
        Watched? replaced;
        Watched? oldest = null;
        lock (_gate)
        {
            replaced = Take(key);
            if (_watched.Count >= _sweepAt)
            {
                Sweep();
            }

            if (_watched.Count == KeysAtMost)
            {
                oldest = Take(_byAge.First!.Value.Key);
            }

            _watched.Add(key, _byAge.AddLast(watched));
        }

        replaced?.Dispose();
        if (oldest is not null)
        {
            oldest.Dispose();
            onChanged(oldest.Key);
        }

        watched.Begin(tokens);
        if (watched.IsPassive)
        {
            lock (_gate)
            {
                _timer ??= clock.Provider.CreateTimer(static watch => ((DependencyWatch)watch!).LookAtPassive(), this, LookEvery, LookEvery);
            }
        }
    }

    /// <summary>Stops watching a key that has no value any more, or a value without dependencies.</summary>
    public void Drop(string key)
    {
        // Most caches watch no tokens, so this is usually the end.
        if (_isUsed)
        {
            Watched? dropped;
            lock (_gate)
            {
                dropped = Take(key);
            }

            dropped?.Dispose();
        }
    }

    public void Dispose()
    {
        Watched[] all;
        lock (_gate)
        {
            _timer?.Dispose();
            all = [.. _byAge];
            _watched.Clear();
            _byAge.Clear();
        }

        foreach (Watched watched in all)
        {
            watched.Dispose();
        }
    }

    private void LookAtPassive()
    {
        Watched[] all;
        lock (_gate)
        {
            Sweep();
            all = [.. _byAge];
        }

        foreach (Watched watched in all)
        {
            watched.Look();
        }
    }

    // Called under the gate. The removed registrations have no further effect, so they are disposed later, on the pool.
    private void Sweep()
    {
        long now = clock.NowMs();
        for (LinkedListNode<Watched>? node = _byAge.First; node is not null;)
        {
            LinkedListNode<Watched>? next = node.Next;
            if (node.Value.UsableUntil <= now)
            {
                Watched expired = Take(node.Value.Key)!;
                ThreadPool.UnsafeQueueUserWorkItem(static expired => expired.Dispose(), expired, preferLocal: false);
            }

            node = next;
        }

        _sweepAt = Math.Max(FewestToSweep, _watched.Count * 2);
    }

    // Called under the gate.
    private Watched? Take(string key)
    {
        if (!_watched.Remove(key, out LinkedListNode<Watched>? node))
        {
            return null;
        }

        _byAge.Remove(node);
        return node.Value;
    }

    private void Changed(Watched watched)
    {
        lock (_gate)
        {
            if (!_watched.TryGetValue(watched.Key, out LinkedListNode<Watched>? node) || node.Value != watched)
            {
                return;
            }

            Take(watched.Key);
        }

        watched.Dispose();
        onChanged(watched.Key);
    }

    private void Failed(string key, Exception failure) => onFailed?.Invoke(key, failure);

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

                // A token that has already changed calls back at once.
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
            if (_passive.Exists(HasChanged))
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
                try
                {
                    registration.Dispose();
                }
#pragma warning disable CA1031 // Code of an application, on a timer or the pool, must not end the process.
                catch (Exception failure)
#pragma warning restore CA1031
                {
                    owner.Failed(Key, failure);
                }
            }
        }

        // The changes of a token that fails are not noticed any more, so the key counts as changed.
        private bool HasChanged(IChangeToken token)
        {
            try
            {
                return token.HasChanged;
            }
#pragma warning disable CA1031 // Code of an application, on a timer, must not end the process.
            catch (Exception failure)
#pragma warning restore CA1031
            {
                owner.Failed(Key, failure);
                return true;
            }
        }

        private void OnChanged() => owner.Changed(this);
    }
}
