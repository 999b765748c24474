// Which keys requests ask for most. Sessions name them only while somebody looks; of each eight that they name one is counted, by chance.
//
//   I1  At most MaxKeys keys are counted. A new key takes the place of the one with the least count, and inherits that count (Space-Saving:
//       Metwally, Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005). So a key that
//       has more than one in MaxKeys of the samples is never missing, and a key was sampled between Count - Inherited and Count times.
//   I2  Every named key is sampled with the same probability, independent of the others. A fixed stride would see one key alone of clients
//       that go through eight keys in turn.
//   I3  A report lists a key only if it stands out from noise (ShareEstimate.I1), by the samples that are certain: Count - Inherited.
using System.Runtime.InteropServices;

namespace Cairn.Server.Metrics;

/// <summary>A key that stands out.</summary>
/// <param name="Key">The key.</param>
/// <param name="Least">How many samples have it, at least.</param>
/// <param name="Most">How many samples have it, at most.</param>
internal readonly record struct FrequentKey(byte[] Key, long Least, long Most);

/// <summary>What the samples say.</summary>
/// <param name="Samples">Sampled requests, of all keys.</param>
/// <param name="Watched">How long samples have been taken.</param>
/// <param name="Keys">The keys that stand out, most frequent first.</param>
internal sealed record FrequentKeys(long Samples, TimeSpan Watched, IReadOnlyList<FrequentKey> Keys);

/// <summary>A sample of the keys that requests name. Any thread.</summary>
/// <param name="clock">Tells when nobody looks any more.</param>
/// <param name="random">Chooses the samples; null for the runtime's shared one.</param>
internal sealed class KeySamples(TimeProvider clock, Random? random = null)
{
    /// <summary>How many keys are counted.</summary>
    public const int MaxKeys = 256;

    /// <summary>One request in so many is counted, on average.</summary>
    public const int OneIn = 8;

    /// <summary>Longer keys are left out.</summary>
    public const int MaxKeyBytes = 1024;

    /// <summary>Nobody looks any more when nobody has asked for this long.</summary>
    public static readonly TimeSpan WatchTime = TimeSpan.FromSeconds(15);

    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], Sample> _samples = new(BytesComparer.Instance);
    private readonly Random _random = random ?? Random.Shared;
    private volatile bool _isWatched;
    private long _askedAt;
    private long _beganAt;
    private long _samplesTaken;

    /// <summary>Whether somebody wants to know. A stale answer lets one batch more or less in.</summary>
    public bool IsWatched => _isWatched;

    // Under the lock.
    private bool IsOver => !_isWatched || clock.GetElapsedTime(_askedAt) > WatchTime;

    /// <summary>A request names a key.</summary>
    public void Add(ReadOnlySpan<byte> key)
    {
        if (_random.Next(OneIn) != 0) // I2
        {
            return;
        }

        // A thread that would have to wait leaves its sample out.
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

    /// <summary>Begins to watch, or goes on, and reports the keys that stand out.</summary>
    /// <param name="count">How many keys at most.</param>
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
