using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>An API with one read path, under load. Without a path to books it measures the API's constant answer.</summary>
internal sealed class ShopContender(
    string name, ShopProcess shop, ShopDatabase database, WrkLoad load, string? path, RunLog log) : IContender
{
    private const double NsPerSecond = 1e9;
    private const double NsPerUs = 1e3;
    private const double NsPerMs = 1e6;
    private const int MostWarmUps = 12;
    private const int LeastWarmUps = 4;

    // The load requests this many books before it repeats itself (books.lua). Each warm-up starts further on.
    private const int Draws = 65_536;
    private const int WarmUpStep = 20_000;

    // A path with more queries per request than this has no cache.
    private const double UncachedQueries = 0.5;

    // With fewer queries per request than this, the cache holds everything that the load requests.
    private const double WarmQueries = 0.0005;

    private readonly List<(Sample Sample, double Queries)> _rounds = [];
    private bool _isWarm;

    public string Name => name;

    public IReadOnlyList<(Sample Sample, double Queries)> Rounds => _rounds;

    // Runs until the compiler has optimised the code and, with a cache, until all requested books are cached. It runs at ordinary priority, so
    // that the compiler also gets time on the API's core.
    public void WarmUp()
    {
        if (_isWarm)
        {
            return;
        }

        _isWarm = true;
        for (var pass = 0; pass < MostWarmUps; pass++)
        {
            var queries = Load(pass * WarmUpStep % Draws, isRealTime: false).Queries;
            if (pass + 1 >= LeastWarmUps && queries is < WarmQueries or > UncachedQueries)
            {
                return;
            }
        }

        log.Say(string.Create(CultureInfo.InvariantCulture, $"{name} still asks the database now and then after {MostWarmUps} warm-ups."));
    }

    public Sample Measure(int round)
    {
        var result = Load(skip: 0, isRealTime: true);
        if (!double.IsFinite(result.Sample.WallNs))
        {
            throw new InvalidDataException("Not one request was answered.");
        }

        _rounds.Add(result);
        return result.Sample;
    }

    /// <summary>Returns the medians of all rounds.</summary>
    public ServiceFigure ToFigure()
    {
        var median = Sample.Median([.. _rounds.Select(round => round.Sample)]);
        return new ServiceFigure(
            name,
            Math.Round(NsPerSecond / median.WallNs),
            Math.Round(median.MedianLatencyNs / NsPerMs, 3),
            Math.Round(median.TailLatencyNs / NsPerMs, 3),
            Math.Round(median.CpuNs / NsPerUs, 2),
            Math.Round(Statistics.Median(_rounds.Select(round => round.Queries)), 4),
            Math.Round(median.BytesAllocated));
    }

    public void Dispose()
    {
        // The group owns the API: two contenders may use the same one.
    }

    private (Sample Sample, double Queries) Load(int skip, bool isRealTime)
    {
        var queriesBefore = database.CountQueries();
        var before = shop.Statistics();
        var result = load.Run(shop, database, path, skip, isRealTime);
        var after = shop.Statistics();
        var queries = database.CountQueries() - queriesBefore;
        var sample = new Sample(
            (after.CpuSeconds - before.CpuSeconds) * NsPerSecond / result.Requests,
            result.Seconds * NsPerSecond / result.Requests,
            (after.AllocatedBytes - before.AllocatedBytes) / result.Requests)
        {
            MedianLatencyNs = result.MedianUs * NsPerUs,
            TailLatencyNs = result.TailUs * NsPerUs,
        };
        return (sample, queries / result.Requests);
    }
}
