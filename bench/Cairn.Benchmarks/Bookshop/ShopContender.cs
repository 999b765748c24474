using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>An API that reads by one path, under the load; or, without a path to books, its constant answer.</summary>
internal sealed class ShopContender(
    string name, ShopProcess shop, ShopDatabase database, WrkLoad load, string? path, RunLog log) : IContender
{
    private const double NsPerSecond = 1e9;
    private const double NsPerUs = 1e3;
    private const double NsPerMs = 1e6;
    private const int MostWarmUps = 12;
    private const int LeastWarmUps = 4;

    // So many books are asked for before the same ones come again (books.lua): each warm-up begins further on.
    private const int Draws = 65_536;
    private const int WarmUpStep = 20_000;

    // Of a path that asks the database for everything.
    private const double UncachedQueries = 0.5;

    // Everything that the load asks for is cached.
    private const double WarmQueries = 0.0005;

    private readonly List<(Sample Sample, double Queries)> _rounds = [];
    private bool _isWarm;

    public string Name => name;

    public IReadOnlyList<(Sample Sample, double Queries)> Rounds => _rounds;

    // Until the compiler has had its time and, with a cache, everything that is asked for is in it: at ordinary priority, so that the compiler
    // has its turn on the API's core too.
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

    /// <summary>The medians of all rounds.</summary>
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
        // The API belongs to the group: two contenders may ask the same.
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
