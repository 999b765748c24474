using System.Collections.Concurrent;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>A first level as small as can be: a number for each hash.</summary>
internal sealed class HeldValues : IChangeSink
{
    private readonly ConcurrentDictionary<ulong, long> _values = new();

    /// <summary>Called before something is forgotten.</summary>
    public Action? BeforeForgetting { get; set; }

    /// <summary>Hashes that were told, and overruns.</summary>
    public ConcurrentQueue<(int Shift, ulong Value)> Told { get; } = new();

    public bool TryFind(ulong hash, out long value) => _values.TryGetValue(hash, out value);

    public void Keep(ulong hash, long value) => _values[hash] = value;

    public void OnChanged(ulong hash)
    {
        BeforeForgetting?.Invoke();
        Told.Enqueue((0, hash));
        _values.TryRemove(hash, out _);
    }

    public void OnChangedMany(int shift, ulong value)
    {
        BeforeForgetting?.Invoke();
        Told.Enqueue((shift, value));
        foreach (ulong hash in _values.Keys)
        {
            if (shift == 64 || hash >> shift == value)
            {
                _values.TryRemove(hash, out _);
            }
        }
    }
}
