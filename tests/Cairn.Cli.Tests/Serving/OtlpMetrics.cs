using System.Buffers.Binary;
using System.Text;

namespace Cairn.Cli.Tests.Serving;

/// <summary>The parts of an OTLP ExportMetricsServiceRequest that tests need: opentelemetry/proto/metrics/v1/metrics.proto.</summary>
internal sealed class OtlpMetrics
{
    public Dictionary<string, string> Resource { get; } = new(StringComparer.Ordinal);

    public string Scope { get; private set; } = "";

    /// <summary>Gets the values by the metric's name and ordered attributes: name{a=1,b=2}.</summary>
    public Dictionary<string, double> Values { get; } = new(StringComparer.Ordinal);

    public Dictionary<string, string> Units { get; } = new(StringComparer.Ordinal);

    public static OtlpMetrics Parse(byte[] request)
    {
        var metrics = new OtlpMetrics();
        foreach (byte[] resourceMetrics in All(request, 1))
        {
            foreach (byte[] attribute in All(resourceMetrics, 1).SelectMany(resource => All(resource, 1)))
            {
                (string name, string value) = Attribute(attribute);
                metrics.Resource[name] = value;
            }

            foreach (byte[] scopeMetrics in All(resourceMetrics, 2))
            {
                metrics.Scope = Text(All(All(scopeMetrics, 1).Single(), 1).Single());
                foreach (byte[] metric in All(scopeMetrics, 2))
                {
                    metrics.Add(metric);
                }
            }
        }

        return metrics;
    }

    private void Add(byte[] metric)
    {
        const int Gauge = 5;
        const int Sum = 7;
        string name = Text(All(metric, 1).Single());
        Units[name] = Text(All(metric, 3).SingleOrDefault() ?? []);
        foreach (byte[] point in All(metric, Gauge).Concat(All(metric, Sum)).SelectMany(data => All(data, 1)))
        {
            string attributes = string.Join(',', All(point, 7).Select(Attribute).Order().Select(attribute => $"{attribute.Name}={attribute.Value}"));
            Values[$"{name}{{{attributes}}}"] = BinaryPrimitives.ReadDoubleLittleEndian(All(point, 4).Single());
        }
    }

    private static (string Name, string Value) Attribute(byte[] bytes) =>
        (Text(All(bytes, 1).Single()), Text(All(All(bytes, 2).Single(), 1).SingleOrDefault() ?? []));

    private static string Text(byte[] bytes) => Encoding.UTF8.GetString(bytes);

    // Returns the fields of a message with this number.
    private static List<byte[]> All(byte[] message, int number)
    {
        var found = new List<byte[]>();
        int position = 0;
        while (position < message.Length)
        {
            ulong tag = Number(message, ref position);
            int start = position;
            int length;
            switch (tag & 7)
            {
                case 0:
                    Number(message, ref position);
                    length = position - start;
                    break;
                case 1:
                    length = 8;
                    break;
                case 2:
                    length = (int)Number(message, ref position);
                    start = position;
                    break;
                default:
                    length = 4;
                    break;
            }

            position = start + length;
            if ((int)(tag >> 3) == number)
            {
                found.Add(message[start..position]);
            }
        }

        return found;
    }

    private static ulong Number(byte[] message, ref int position)
    {
        ulong number = 0;
        int shift = 0;
        byte next;
        do
        {
            next = message[position++];
            number |= (ulong)(next & 0x7F) << shift;
            shift += 7;
        }
        while ((next & 0x80) != 0);
        return number;
    }
}
