using Cairn.FileStore.Engine;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore.Adapters;

/// <summary>The change tokens of the keys of a distributed cache. The subscription lasts as long as the process.</summary>
internal sealed class KeyTokens
{
    // A token cannot detect that its caller has discarded it. At the limit all tokens fire, and their callers ask for others.
    private const int KeysAtMost = 65_536;

    private readonly Lock _gate = new();
    private readonly TokenSignal _signal;
    private readonly IDisposable _subscription;
    private Dictionary<string, CancellationTokenSource> _byKey = new(StringComparer.Ordinal);
    private CancellationTokenSource? _forAll;

    public KeyTokens(ICacheKeys keys, ILogger? log)
    {
        _signal = new TokenSignal(log);
        _subscription = keys.SubscribeToKeys(Fire);
    }

    public IChangeToken Watch(string? key)
    {
        lock (_gate)
        {
            if (key is null)
            {
                return new CancellationChangeToken((_forAll ??= new CancellationTokenSource()).Token);
            }

            if (!_byKey.TryGetValue(key, out CancellationTokenSource? source))
            {
                if (_byKey.Count == KeysAtMost)
                {
                    FireLocked(null);
                }

                _byKey[key] = source = new CancellationTokenSource();
            }

            return new CancellationChangeToken(source.Token);
        }
    }

    /// <summary>Fires the tokens of a key that has changed, or all tokens if the key is null.</summary>
    public void Fire(string? key)
    {
        lock (_gate)
        {
            FireLocked(key);
        }

        GC.KeepAlive(_subscription);
    }

    private void FireLocked(string? key)
    {
        Cancel(Interlocked.Exchange(ref _forAll, null));
        if (key is not null)
        {
            if (_byKey.Remove(key, out CancellationTokenSource? source))
            {
                Cancel(source);
            }

            return;
        }

        foreach (CancellationTokenSource source in _byKey.Values)
        {
            Cancel(source);
        }

        _byKey = new Dictionary<string, CancellationTokenSource>(StringComparer.Ordinal);
    }

    private void Cancel(CancellationTokenSource? source)
    {
        if (source is not null)
        {
            _signal.Fire(source);
        }
    }
}
