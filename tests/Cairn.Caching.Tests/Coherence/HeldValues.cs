using System.Collections.Concurrent;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>A minimal first level: a number for each hash.</summary>
internal sealed class HeldValues : IChangeSink
{
    private readonly ConcurrentDictionary<ulong, long> _values = new();

    /// <summary>Gets or sets the action before a value is removed.</summary>
    public Action? BeforeForgetting { get; set; }

    /// <summary>Gets the hashes and overruns of which the sink was notified.</summary>
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
