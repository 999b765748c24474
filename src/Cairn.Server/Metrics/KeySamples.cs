// Which keys are asked for most. Sessions say so only while somebody looks: then each eighth key that a batch has is counted.
//
//   I1  At most MaxKeys keys are counted. A new one takes the place of the one with the least count, and that count with it (Metwally,
//       Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005): what is asked for
//       more often than one time in MaxKeys is never missing, and its count is too high by Error at most.
using System.Runtime.InteropServices;

namespace Cairn.Server.Metrics;

/// <summary>A sample of the keys that requests name. Any thread.</summary>
/// <param name="clock">Tells when nobody looks any more.</param>
internal sealed class KeySamples(TimeProvider clock)
{
    /// <summary>How many keys are counted.</summary>
    public const int MaxKeys = 256;

    /// <summary>One request in so many of each thread is counted.</summary>
    public const int OneIn = 8;

    /// <summary>Longer keys are left out.</summary>
    public const int MaxKeyBytes = 1024;

    /// <summary>Nobody looks any more when nobody has asked for this long.</summary>
    public static readonly TimeSpan WatchTime = TimeSpan.FromSeconds(15);

    [ThreadStatic]
    private static int t_passed;

    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], Sample> _samples = new(BytesComparer.Instance);
    private volatile bool _isWatched;
    private long _askedAt;

    /// <summary>Whether somebody wants to know. A stale answer lets one batch more or less in.</summary>
    public bool IsWatched => _isWatched;

    // Under the lock.
    private bool IsOver => !_isWatched || clock.GetElapsedTime(_askedAt) > WatchTime;

    /// <summary>A request names a key.</summary>
    public void Add(ReadOnlySpan<byte> key)
    {
        if (++t_passed % OneIn != 0 || key.Length > MaxKeyBytes)
        {
            return;
        }

        // Whoever would have to wait leaves it: this is a sample.
        if (!_lock.TryEnter())
        {
            return;
        }

        try
        {
            if (IsOver)
            {
                _isWatched = false;
                _samples.Clear();
                return;
            }

            Count(key);
        }
        finally
        {
            _lock.Exit();
        }
    }

    /// <summary>Begins to watch, or goes on, and tells what was seen: keys with the number of requests, about, most first.</summary>
    /// <param name="count">How many keys.</param>
    public IReadOnlyList<(byte[] Key, long Requests, long Error)> Watch(int count)
    {
        lock (_lock)
        {
            if (IsOver)
            {
                _samples.Clear();
            }

            _askedAt = clock.GetTimestamp();
            _isWatched = true;
            return [.. _samples.OrderByDescending(pair => pair.Value.Count - pair.Value.Error).Take(count)
                .Select(pair => (pair.Key, pair.Value.Count * OneIn, pair.Value.Error * OneIn))];
        }
    }

    private void Count(ReadOnlySpan<byte> key)
    {
        Dictionary<byte[], Sample>.AlternateLookup<ReadOnlySpan<byte>> byBytes = _samples.GetAlternateLookup<ReadOnlySpan<byte>>();
        ref Sample sample = ref CollectionsMarshal.GetValueRefOrNullRef(byBytes, key);
        if (!System.Runtime.CompilerServices.Unsafe.IsNullRef(ref sample))
        {
            sample.Count++;
            return;
        }

        long inherited = 0;
        if (_samples.Count == MaxKeys)
        {
            KeyValuePair<byte[], Sample> least = _samples.MinBy(pair => pair.Value.Count);
            inherited = least.Value.Count;
            _samples.Remove(least.Key); // I1
        }

        _samples.Add(key.ToArray(), new Sample { Count = inherited + 1, Error = inherited });
    }

    private struct Sample
    {
        public long Count;
        public long Error;
    }

    private sealed class BytesComparer : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public static BytesComparer Instance { get; } = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = default(HashCode);
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}
