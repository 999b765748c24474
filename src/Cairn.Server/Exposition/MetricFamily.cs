using Cairn.Server.Metrics;

namespace Cairn.Server.Exposition;

/// <summary>The kind of a metric.</summary>
internal enum MetricKind
{
    /// <summary>Only grows, from the start of the server or the creation of the store.</summary>
    Counter = 0,

    /// <summary>Grows and shrinks.</summary>
    Gauge,

    /// <summary>The distribution of a duration.</summary>
    Histogram,
}

/// <summary>A value of a metric, and its labels.</summary>
internal readonly record struct Sample(double Value, params (string Name, string Value)[] Labels);

/// <summary>A latency histogram of a metric, and its labels.</summary>
internal readonly record struct Latencies(LatencyHistogram Histogram, params (string Name, string Value)[] Labels);

/// <summary>A metric with its name. <see cref="MetricTable"/> contains all metrics.</summary>
internal sealed class MetricFamily
{
    private MetricFamily(string name, MetricKind kind, string unit, string help)
    {
        Name = name;
        Kind = kind;
        Unit = unit;
        Help = help;
    }

    /// <summary>Gets the name for OpenTelemetry: words separated by dots.</summary>
    public string Name { get; }

    public MetricKind Kind { get; }

    /// <summary>Gets the unit as in OpenTelemetry (UCUM): s, By, or empty.</summary>
    public string Unit { get; }

    /// <summary>Gets the description, one sentence.</summary>
    public string Help { get; }

    /// <summary>Gets the name for Prometheus, by OpenTelemetry's rule: underscores, the unit, and _total for counters.</summary>
    public string PrometheusName
    {
        get
        {
            string unit = Unit switch
            {
                "s" => "_seconds",
                "By" => "_bytes",
                _ => "",
            };
            return Name.Replace('.', '_') + unit + (Kind == MetricKind.Counter ? "_total" : "");
        }
    }

    /// <summary>Gets the function that reads the values of a counter or gauge.</summary>
    public Func<ServerSnapshot, IEnumerable<Sample>> Read { get; private init; } = _ => [];

    /// <summary>Gets the function that reads the latencies of a histogram.</summary>
    public Func<ServerSnapshot, IEnumerable<Latencies>> ReadLatencies { get; private init; } = _ => [];

    public static MetricFamily Counter(string name, string unit, string help, Func<ServerSnapshot, IEnumerable<Sample>> read) =>
        new(name, MetricKind.Counter, unit, help) { Read = read };

    public static MetricFamily Counter(string name, string unit, string help, Func<ServerSnapshot, double> read) =>
        Counter(name, unit, help, snapshot => [new Sample(read(snapshot))]);

    public static MetricFamily Gauge(string name, string unit, string help, Func<ServerSnapshot, IEnumerable<Sample>> read) =>
        new(name, MetricKind.Gauge, unit, help) { Read = read };

    public static MetricFamily Gauge(string name, string unit, string help, Func<ServerSnapshot, double> read) =>
        Gauge(name, unit, help, snapshot => [new Sample(read(snapshot))]);

    public static MetricFamily OfLatencies(string name, string help, Func<ServerSnapshot, IEnumerable<Latencies>> read) =>
        new(name, MetricKind.Histogram, "s", help) { ReadLatencies = read };
}
