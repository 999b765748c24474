using System.Collections.Concurrent;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Levels;

/// <summary>Records all notifications.</summary>
internal sealed class RecordingSink : IChangeSink
{
    private int _all;

    public ConcurrentQueue<ulong> Changed { get; } = new();

    /// <summary>Gets the number of notifications that everything has changed.</summary>
    public int All => Volatile.Read(ref _all);

    public void OnChanged(ulong hash) => Changed.Enqueue(hash);

    public void OnChangedMany(int shift, ulong value)
    {
        Assert.Equal((64, 0UL), (shift, value));
        Interlocked.Increment(ref _all);
    }
}
