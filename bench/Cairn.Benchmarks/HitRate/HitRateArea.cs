using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.HitRate;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;

namespace Cairn.Benchmarks.HitRate;

// The hit ratio of the store on a trace, with values of 100 bytes and room for 1 % or 10 % of the distinct keys. It is compared
// with policies that count objects. The goal is S3-FIFO's hit ratio less one point; the stretch goal is the same ratio.
//
// The first level of Cairn.Caching counts objects itself. Its goal is S3-FIFO's hit ratio. The stretch goal is W-TinyLFU's where
// that is higher, with a fixed or an adaptive window, whichever is better.
//
// The bounds are constants. They are not taken from the policies replayed beside the store, so that a mistake in a reference
// policy cannot move them. The run reports a policy that differs from its published figure.
internal sealed class HitRateArea : IArea
{
    // Each round hashes keys differently, so hit ratios differ a little.
    private const int FullRounds = 5;
    private const int QuickRounds = 1;

    private const double ToleratedLossPoints = 1.0;

    // Published figures have one decimal place.
    private const double ReferenceTolerancePoints = 0.06;

    private static readonly IReadOnlyList<ReferenceHitRates> _references =
    [
        new("oltp", 1, Lru: 41.6, Sieve: 40.3, S3Fifo: 46.5, Optimal: 59.8),
        new("oltp", 10, Lru: 66.5, Sieve: 66.7, S3Fifo: 67.8, Optimal: 76.2),
        new("scarab", 1, Lru: 34.7, Sieve: 40.8, S3Fifo: 42.8, Optimal: 53.4),
        new("scarab", 10, Lru: 60.6, Sieve: 60.9, S3Fifo: 62.8, Optimal: 75.0),
        new("adapt_size", 10, Lru: 34.2, Sieve: 37.5, S3Fifo: 37.4, Optimal: 45.0),
    ];

    public string Name => "hitrate";

    public void Run(AreaRun run)
    {
        foreach (var file in TraceFile.Known)
        {
            run.Log.Progress($"reading {file.Name}");
            var trace = file.ReadFrom(run.Settings.TracesFolder);
            foreach (var reference in _references.Where(reference => reference.Trace == file.Name))
            {
                MeasureStore(run, trace, reference);
                MeasureFirstLevel(run, trace, reference);
            }
        }
    }

    private static void MeasureStore(AreaRun run, Trace trace, ReferenceHitRates reference)
    {
        var name = NameOf(trace, reference);
        var pending = new Finding(name, "Cairn", "S3-FIFO") { Goal = GoalFor(reference.S3Fifo) };
        run.Check(name, [pending], () =>
        {
            var capacity = trace.CapacityAt(reference.Percent);
            var replayed = ReplayReferences(trace, capacity);
            foreach (var (policy, published, measured) in reference.Beside(replayed))
            {
                if (Math.Abs(published - measured) > ReferenceTolerancePoints)
                {
                    run.Log.Say(string.Create(
                        CultureInfo.InvariantCulture, $"{name}: {policy} gave {measured:0.00} %, published are {published:0.0} %."));
                }
            }

            var (hitPercent, cost) = ReplayStore(run, trace, capacity);
            var note = string.Create(
                CultureInfo.InvariantCulture,
                $"hit ratio {hitPercent:0.00} % (LRU {replayed.Lru:0.00}, SIEVE {replayed.Sieve:0.00}, S3-FIFO {replayed.S3Fifo:0.00}, optimal {replayed.Optimal:0.00})");
            return
            [
                pending with { Measured = cost, Ratio = hitPercent / reference.S3Fifo, Note = note },
                Informing("LRU", reference.Lru),
                Informing("SIEVE", reference.Sieve),
                Informing("optimal", reference.Optimal),
            ];

            Finding Informing(string policy, double percent) =>
                new(name, "Cairn", policy) { Measured = cost, Ratio = hitPercent / percent };
        });
    }

    private static void MeasureFirstLevel(AreaRun run, Trace trace, ReferenceHitRates reference)
    {
        var name = "first level, " + NameOf(trace, reference);
        var pending = new Finding(name, "first level", "S3-FIFO") { Goal = Goal.AtLeast(1) };
        run.Check(name, [pending], () =>
        {
            var capacity = trace.CapacityAt(reference.Percent);
            var windowTinyLfu = Math.Max(
                HitPercent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: false), trace),
                HitPercent(new WindowTinyLfuPolicy(capacity, trace.DistinctKeys, isAdaptive: true), trace));
            var (hitPercent, cost) = ReplayRounds(run, trace, seed => new LocalCachePolicy(capacity, trace.DistinctKeys, seed));
            var note = string.Create(CultureInfo.InvariantCulture, $"hit ratio {hitPercent:0.00} % (W-TinyLFU {windowTinyLfu:0.00})");
            return
            [
                pending with
                {
                    Measured = cost,
                    Ratio = hitPercent / reference.S3Fifo,
                    Goal = Goal.AtLeast(1, stretch: Math.Max(1, windowTinyLfu / reference.S3Fifo)),
                    Note = note,
                },
                Informing("W-TinyLFU", windowTinyLfu),
                Informing("LRU", reference.Lru),
                Informing("SIEVE", reference.Sieve),
                Informing("optimal", reference.Optimal),
            ];

            Finding Informing(string policy, double percent) =>
                new(name, "first level", policy) { Measured = cost, Ratio = hitPercent / percent };
        });
    }

    private static string NameOf(Trace trace, ReferenceHitRates reference) =>
        string.Create(CultureInfo.InvariantCulture, $"{trace.Name}, {reference.Percent} % of {trace.DistinctKeys} keys");

    /// <summary>Returns the bound as a ratio of two hit ratios: at most one point below the reference. The stretch goal is equality.</summary>
    private static Goal GoalFor(double referencePercent) =>
        Goal.AtLeast((referencePercent - ToleratedLossPoints) / referencePercent, stretch: 1);

    private static ReferenceHitRates ReplayReferences(Trace trace, int capacity) => new(
        trace.Name,
        Percent: 0,
        HitPercent(new LruPolicy(capacity, trace.DistinctKeys), trace),
        HitPercent(new SievePolicy(capacity, trace.DistinctKeys), trace),
        HitPercent(new S3FifoPolicy(capacity, trace.DistinctKeys), trace),
        HitPercent(new OptimalPolicy(capacity, trace.Requests, trace.DistinctKeys), trace));

    private static double HitPercent(ICachePolicy policy, Trace trace)
    {
        using (policy)
        {
            return Replay.Run(policy, trace).HitPercent;
        }
    }

    private static (double HitPercent, Sample Cost) ReplayStore(AreaRun run, Trace trace, int capacity)
    {
        var folder = run.Settings.Folder;
        var capacityBytes = CairnStorePolicy.CapacityFor(folder, capacity);
        CheckEntries(folder, trace, capacity, capacityBytes);

        return ReplayRounds(run, trace, _ => new CairnStorePolicy(folder, capacityBytes, countsEntries: false));
    }

    /// <summary>Returns the median hit ratio and cost over the rounds. Each round hashes keys differently.</summary>
    private static (double HitPercent, Sample Cost) ReplayRounds(AreaRun run, Trace trace, Func<int, ICachePolicy> create)
    {
        var percents = new List<double>();
        var costs = new List<Sample>();
        for (var round = 0; round < (run.Settings.Rounds ?? (run.Settings.IsQuick ? QuickRounds : FullRounds)); round++)
        {
            using var policy = create(round);
            var meter = Meter.Start();
            percents.Add(Replay.Run(policy, trace).HitPercent);
            costs.Add(meter.Stop(trace.Requests.Length));
        }

        return (Statistics.Median(percents), Sample.Median(costs));
    }

    /// <summary>Checks that the store does not hold more entries than the policies beside it, because then it would win by size.</summary>
    private static void CheckEntries(string folder, Trace trace, int capacity, long capacityBytes)
    {
        using var counted = new CairnStorePolicy(folder, capacityBytes, countsEntries: true);
        Replay.Run(counted, trace);
        if (counted.MostEntries > capacity)
        {
            throw new InvalidOperationException(
                $"The store held {counted.MostEntries} entries, {counted.MostEntries - capacity} more than it may in a fair comparison.");
        }
    }
}
