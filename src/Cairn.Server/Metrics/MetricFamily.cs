namespace Cairn.Server.Metrics;

/// <summary>What may become of a figure.</summary>
internal enum MetricKind
{
    /// <summary>Only grows, from the start of the server or the creation of the store.</summary>
    Counter = 0,

    /// <summary>Goes up and down.</summary>
    Gauge,

    /// <summary>How often something took how long.</summary>
    Histogram,
}

/// <summary>A figure, and what it is a figure of.</summary>
internal readonly record struct Sample(double Value, params (string Name, string Value)[] Labels);

/// <summary>Latencies, and what of.</summary>
internal readonly record struct Latencies(LatencyHistogram Histogram, params (string Name, string Value)[] Labels);

/// <summary>Figures of one name. <see cref="MetricTable"/> has all there are.</summary>
internal sealed class MetricFamily
{
    private MetricFamily(string name, MetricKind kind, string unit, string help)
    {
        Name = name;
        Kind = kind;
        Unit = unit;
        Help = help;
    }

    /// <summary>The name for OpenTelemetry: words with dots between.</summary>
    public string Name { get; }

    public MetricKind Kind { get; }

    /// <summary>As OpenTelemetry has it (UCUM): s, By, or empty.</summary>
    public string Unit { get; }

    /// <summary>One sentence.</summary>
    public string Help { get; }

    /// <summary>The name for Prometheus, by OpenTelemetry's rule: underscores, the unit, and _total for what only grows.</summary>
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

    /// <summary>Reads the figures of a counter or gauge.</summary>
    public Func<ServerSnapshot, IEnumerable<Sample>> Read { get; private init; } = _ => [];

    /// <summary>Reads the latencies of a histogram.</summary>
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
