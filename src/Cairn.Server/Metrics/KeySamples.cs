// Finds the keys that are requested most. Sessions report keys only while samples are wanted. One of eight reported keys, chosen at random,
// is counted.
//
//   I1  At most MaxKeys keys are counted. A new key replaces the one with the smallest count, and inherits that count (Space-Saving:
//       Metwally, Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005). So a
//       key with more than one in MaxKeys of the samples is never missing, and a key was sampled between Count - Inherited and Count
//       times.
//   I2  Every reported key is sampled with the same probability, independent of the others. A fixed stride would see only one key of
//       clients that use eight keys in turn.
//   I3  A report lists a key only if it stands out from noise (ShareEstimate.I1), by the samples that are certain:
//       Count - Inherited.
using Cairn.Server.Exposition;

namespace Cairn.Server.Metrics;

/// <summary>A key that stands out.</summary>
/// <param name="Key">The key.</param>
/// <param name="Least">The minimum number of samples of this key.</param>
/// <param name="Most">The maximum number of samples of this key.</param>
internal readonly record struct FrequentKey(byte[] Key, long Least, long Most);

/// <summary>A report on the samples.</summary>
/// <param name="Samples">The number of sampled requests, of all keys.</param>
/// <param name="Watched">The time for which samples have been taken.</param>
/// <param name="Keys">The keys that stand out, most frequent first.</param>
internal sealed record FrequentKeys(long Samples, TimeSpan Watched, IReadOnlyList<FrequentKey> Keys);

/// <summary>A sample of the keys of requests. Thread-safe.</summary>
/// <param name="clock">The clock that determines when sampling ends.</param>
/// <param name="random">The random numbers that choose the samples; null for the runtime's shared ones.</param>
internal sealed class KeySamples(TimeProvider clock, Random? random = null)
{
    /// <summary>The maximum number of keys that are counted.</summary>
    public const int MaxKeys = 256;

    /// <summary>The average number of requests per sample.</summary>
    public const int OneIn = 8;

    /// <summary>The maximum length of a key in bytes. Longer keys are left out.</summary>
    public const int MaxKeyBytes = 1024;

    /// <summary>The time after the last report at which sampling ends.</summary>
    public static readonly TimeSpan WatchTime = TimeSpan.FromSeconds(15);

    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], Sample> _samples = new(BytesComparer.Instance);
    private readonly Random _random = random ?? Random.Shared;
    private volatile bool _isWatched;
    private long _askedAt;
    private long _beganAt;
    private long _samplesTaken;

    /// <summary>Gets whether samples are wanted. A stale value only adds or omits one batch.</summary>
    public bool IsWatched => _isWatched;

    // Requires the lock.
    private bool IsOver => !_isWatched || clock.GetElapsedTime(_askedAt) > WatchTime;

    /// <summary>Adds the key of a request.</summary>
    public void Add(ReadOnlySpan<byte> key)
    {
        if (_random.Next(OneIn) != 0) // I2
        {
            return;
        }

        // A thread that would have to wait omits its sample.
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

            _samplesTaken++;
            if (key.Length <= MaxKeyBytes)
            {
                Count(key);
            }
        }
        finally
        {
            _lock.Exit();
        }
    }

    /// <summary>Starts or continues sampling, and reports the keys that stand out.</summary>
    /// <param name="count">The maximum number of keys in the report.</param>
    public FrequentKeys Watch(int count)
    {
        lock (_lock)
        {
            long now = clock.GetTimestamp();
            if (IsOver)
            {
                _samples.Clear();
                _samplesTaken = 0;
                _beganAt = now;
            }

            _askedAt = now;
            _isWatched = true;
            FrequentKey[] keys =
            [
                .. _samples.Select(pair => new FrequentKey(pair.Key, pair.Value.Count - pair.Value.Inherited, pair.Value.Count))
                    .Where(key => ShareEstimate.StandsOut(key.Least, _samplesTaken)) // I3
                    .OrderByDescending(key => key.Least).Take(count),
            ];
            return new FrequentKeys(_samplesTaken, clock.GetElapsedTime(_beganAt), keys);
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

        _samples.Add(key.ToArray(), new Sample { Count = inherited + 1, Inherited = inherited });
    }

    private struct Sample
    {
        public long Count;
        public long Inherited;
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
