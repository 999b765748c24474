namespace Cairn.HitRate.Policies;

// LRU that admits an object of s bytes with the probability e^(-s/c). Berger, Sitaraman and Harchol-Balter, "AdaptSize: Orchestrating the Hot Object Memory
// Cache in a Content Delivery Network", NSDI 2017. The paper computes c from a Markov model; here caches of some values of c run beside each
// other, and after each window the one with the most hits in it decides.
internal sealed class AdaptSizePolicy : ICachePolicy
{
    private const int RequestsPerWindow = 5000;
    private const int Seed = 11;

    private readonly int[] _sizes;
    private readonly double[] _meanBytes;
    private readonly SizedLruPolicy[] _trials;
    private readonly int[] _hits;
    private readonly SizedLruPolicy _cache;
    private readonly Random _random = new(Seed);
    private int _chosen;
    private int _requests;

    public AdaptSizePolicy(long capacityBytes, int[] sizes)
    {
        _sizes = sizes;
        _meanBytes = [.. Enumerable.Range(6, 20).Where(power => power % 2 == 0).Select(power => Math.Pow(2, power)), double.PositiveInfinity];
        _trials = [.. _meanBytes.Select(_ => new SizedLruPolicy(capacityBytes, sizes))];
        _hits = new int[_trials.Length];
        _cache = new SizedLruPolicy(capacityBytes, sizes);
        _chosen = _trials.Length - 1;
    }

    public bool Request(int key)
    {
        var drawn = _random.NextDouble();
        for (var trial = 0; trial < _trials.Length; trial++)
        {
            _hits[trial] += Request(_trials[trial], key, trial, drawn) ? 1 : 0;
        }

        if (++_requests % RequestsPerWindow == 0)
        {
            _chosen = Array.IndexOf(_hits, _hits.Max());
            Array.Clear(_hits);
        }

        return Request(_cache, key, _chosen, drawn);
    }

    public void Dispose()
    {
        _cache.Dispose();
        Array.ForEach(_trials, trial => trial.Dispose());
    }

    private bool Request(SizedLruPolicy cache, int key, int trial, double drawn)
    {
        if (cache.Use(key))
        {
            return true;
        }

        if (drawn < Math.Exp(-_sizes[key] / _meanBytes[trial]))
        {
            cache.Insert(key);
        }

        return false;
    }
}
