using Cairn.Server.Metrics;

namespace Cairn.Server.Exposition;

/// <summary>Writes the metrics of a server in Prometheus' text format, version 0.0.4.</summary>
/// <remarks>https://prometheus.io/docs/instrumenting/exposition_formats/</remarks>
internal static class PrometheusText
{
    // The upper ends of a histogram's buckets: powers of two nanoseconds, where cells of the recorded histogram also end. 1 us to 17 s.
    private const int FirstPower = 10;
    private const int LastPower = 34;

    public static void Write(IBufferWriter<byte> target, ServerSnapshot snapshot)
    {
        var text = new StringBuilder();
        foreach (MetricFamily family in MetricTable.All)
        {
            string name = family.PrometheusName;
            text.Append("# HELP ").Append(name).Append(' ').Append(Escape(family.Help, isLabel: false)).Append('\n');
            text.Append("# TYPE ").Append(name).Append(' ').Append(family.Kind.ToString().ToLowerInvariant()).Append('\n');
            foreach (Sample sample in family.Read(snapshot))
            {
                Append(text, name, sample.Labels, null, Number(sample.Value));
            }

            foreach (Latencies latencies in family.ReadLatencies(snapshot))
            {
                Append(text, name, latencies);
            }

            Encoding.UTF8.GetBytes(text.ToString(), target);
            text.Clear();
        }
    }

    /// <summary>Gets the upper ends of the buckets of histograms, in nanoseconds as exponents of two.</summary>
    public static IEnumerable<int> Powers => Enumerable.Range(FirstPower, LastPower - FirstPower + 1);

    /// <summary>Returns the upper end of a bucket in seconds, as a label.</summary>
    public static string UpperEnd(int power) => Number((1L << power) / 1e9);

    /// <summary>Escapes the characters of a text that would end it.</summary>
    public static string Escape(string text, bool isLabel)
    {
        string escaped = text.Replace(@"\", @"\\", StringComparison.Ordinal).Replace("\n", @"\n", StringComparison.Ordinal);
        return isLabel ? escaped.Replace("\"", "\\\"", StringComparison.Ordinal) : escaped;
    }

    private static void Append(StringBuilder text, string name, Latencies latencies)
    {
        // The count is that of the last bucket. It must not be smaller than the others although requests continue, so it is read last.
        LatencyHistogram histogram = latencies.Histogram;
        foreach (int power in Powers)
        {
            Append(text, name + "_bucket", latencies.Labels, UpperEnd(power), Number(histogram.CountUpToPowerOfTwo(power)));
        }

        string count = Number(histogram.Count);
        Append(text, name + "_bucket", latencies.Labels, "+Inf", count);
        Append(text, name + "_sum", latencies.Labels, null, Number(histogram.SumNs / 1e9));
        Append(text, name + "_count", latencies.Labels, null, count);
    }

    private static void Append(StringBuilder text, string name, (string Name, string Value)[] labels, string? upperEnd, string value)
    {
        text.Append(name);
        char separator = '{';
        foreach ((string label, string content) in labels)
        {
            text.Append(separator).Append(label).Append("=\"").Append(Escape(content, isLabel: true)).Append('"');
            separator = ',';
        }

        if (upperEnd is not null)
        {
            text.Append(separator).Append("le=\"").Append(upperEnd).Append('"');
            separator = ',';
        }

        text.Append(separator == ',' ? "} " : " ").Append(value).Append('\n');
    }

    private static string Number(double value) => value.ToString("R", CultureInfo.InvariantCulture);
}
