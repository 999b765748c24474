using System.Globalization;
using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.HitRate.Policies;

// The first level of Cairn.Caching, with a limit of entries or of bytes. The seed determines its hashes, which are random numbers, so a replay can be
// repeated. A real cache chooses its own random hashes.
internal sealed class LocalCachePolicy : ICachePolicy
{
    private readonly LocalCache _cache;
    private readonly string[] _keys;
    private readonly ulong[] _hashes;
    private readonly int[] _sizes = [];

    /// <summary>Creates a first level with a limit of bytes only, for keys whose objects have the given sizes.</summary>
    public LocalCachePolicy(long capacityBytes, int[] sizes)
        : this(int.MaxValue, sizes.Length)
    {
        _cache = new LocalCache(int.MaxValue, capacityBytes);
        _sizes = sizes;
    }

    /// <summary>Creates a first level with a limit of entries only.</summary>
    /// <param name="capacity">The limit.</param>
    /// <param name="distinctKeys">The number of keys of the trace.</param>
    /// <param name="seed">The seed of the hashes.</param>
    /// <param name="policy">The only eviction policy; null for the best one at any time.</param>
    public LocalCachePolicy(int capacity, int distinctKeys, int seed = 1, QueuePolicy? policy = null)
    {
        _cache = new LocalCache(capacity, long.MaxValue, policy: policy);
        _keys = new string[distinctKeys];
        _hashes = new ulong[distinctKeys];
        var random = new Random(seed);
        for (var key = 0; key < distinctKeys; key++)
        {
            _keys[key] = key.ToString(CultureInfo.InvariantCulture);
            _hashes[key] = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
        }
    }

    /// <summary>Gets the number of entries that the cache holds now.</summary>
    public long Entries => _cache.GetStatistics().Entries;

    /// <summary>Gets the hits that the cache estimates it would have had more, as <see cref="DuelStatistics.Gained"/>.</summary>
    public IReadOnlyList<double> Gained => _cache.GetPolicyStatistics().Gained;

    /// <summary>Gets the half widths of the intervals of these, as <see cref="DuelStatistics.Margins"/>.</summary>
    public IReadOnlyList<double> Margins => _cache.GetPolicyStatistics().Margins;

    public bool Request(int key)
    {
        if (_cache.Find(_hashes[key], _keys[key]) is not null)
        {
            return true;
        }

        _cache.Set(new LocalEntry(_keys[key], _hashes[key]) { Bytes = _sizes.Length > 0 ? _sizes[key] : 1 });
        return false;
    }

    public void Dispose()
    {
    }
}
