using System.Diagnostics.Metrics;
using Cairn.Server.Metrics;
using Cairn.Server.Timing;

namespace Cairn.Server.Exposition;

/// <summary>Provides the metrics of a server as instruments of System.Diagnostics.Metrics, for exporters such as
/// OpenTelemetry's.</summary>
/// <remarks>
/// There are no observable histograms, and repeating millions of recordings would cost more than the requests did. So a histogram becomes
/// three counters, as in Prometheus: NAME.bucket with the label le, NAME.sum and NAME.count.
/// </remarks>
internal static class MeterFigures
{
    // An exporter reads one instrument after the other. All of them use the same snapshot for this long.
    private const long FreshMs = 200;

    public static Meter Create(Func<ServerSnapshot?> look, TimeProvider clock)
    {
        var meter = new Meter(ServerInsight.MeterName, ProcessFigures.Version);
        var latest = new LatestLook(look, clock);
        foreach (MetricFamily family in MetricTable.All)
        {
            string? unit = family.Unit.Length == 0 ? null : family.Unit;
            switch (family.Kind)
            {
                case MetricKind.Counter:
                    meter.CreateObservableCounter(family.Name, () => Measure(latest, family), unit, family.Help);
                    break;
                case MetricKind.Gauge:
                    meter.CreateObservableGauge(family.Name, () => Measure(latest, family), unit, family.Help);
                    break;
                default:
                    meter.CreateObservableCounter(family.Name + ".bucket", () => MeasureBuckets(latest, family), null, family.Help);
                    meter.CreateObservableCounter(
                        family.Name + ".sum", () => MeasureLatencies(latest, family, histogram => histogram.SumNs / 1e9), unit, family.Help);
                    meter.CreateObservableCounter(
                        family.Name + ".count", () => MeasureLatencies(latest, family, histogram => histogram.Count), null, family.Help);
                    break;
            }
        }

        return meter;
    }

    private static IEnumerable<Measurement<double>> Measure(LatestLook latest, MetricFamily family) =>
        latest.Get() is { } snapshot
            ? family.Read(snapshot).Select(sample => new Measurement<double>(sample.Value, Tags(sample.Labels)))
            : [];

    private static IEnumerable<Measurement<double>> MeasureLatencies(LatestLook latest, MetricFamily family, Func<LatencyHistogram, double> of) =>
        latest.Get() is { } snapshot
            ? family.ReadLatencies(snapshot).Select(latencies => new Measurement<double>(of(latencies.Histogram), Tags(latencies.Labels)))
            : [];

    private static IEnumerable<Measurement<double>> MeasureBuckets(LatestLook latest, MetricFamily family)
    {
        if (latest.Get() is not { } snapshot)
        {
            yield break;
        }

        foreach (Latencies latencies in family.ReadLatencies(snapshot))
        {
            foreach (int power in PrometheusText.Powers)
            {
                yield return new Measurement<double>(
                    latencies.Histogram.CountUpToPowerOfTwo(power), [.. Tags(latencies.Labels), new("le", PrometheusText.UpperEnd(power))]);
            }

            yield return new Measurement<double>(latencies.Histogram.Count, [.. Tags(latencies.Labels), new("le", "+Inf")]);
        }
    }

    private static KeyValuePair<string, object?>[] Tags((string Name, string Value)[] labels) =>
        [.. labels.Select(label => new KeyValuePair<string, object?>(label.Name, label.Value))];

    private sealed class LatestLook(Func<ServerSnapshot?> look, TimeProvider clock)
    {
        private readonly Lock _lock = new();
        private ServerSnapshot? _snapshot;
        private long _takenAt = long.MinValue;

        public ServerSnapshot? Get()
        {
            lock (_lock)
            {
                long now = Timing.ServerClock.GetTimestampMs(clock);
                if (_snapshot is null || now - _takenAt >= FreshMs)
                {
                    _snapshot = look();
                    _takenAt = now;
                }

                return _snapshot;
            }
        }
    }
}
