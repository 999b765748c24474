using System.Text.Json;
using Cairn.Server.Metrics;

namespace Cairn.Cli.Load;

/// <summary>Writes the result of a load as text and as JSON.</summary>
internal static class LoadReport
{
    private static readonly (string Name, double Part)[] Percentiles =
    [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
    ];

    public static void WriteText(ToolOutput output, LoadResult result)
    {
        LoadCounters counters = result.Counters;
        output.WriteLine($"{result.Plan.Target.Address}: {result.ServerName}, {result.Protocol}; {Describe(result.Plan)}");
        output.WriteLine($"{Figures.Count(counters.Operations)} operations in {Seconds(result.Elapsed)}{(result.IsComplete ? "" : ", ended early")}");
        output.WriteLine();

        LatencyHistogram all = All(counters);
        var table = new TextTable(["", ">per second", .. Percentiles.Select(percentile => $">{percentile.Name}")]);
        AddRow(table, "gets", result.PerSecond(counters.Gets), counters.GetLatencies);
        AddRow(table, "sets", result.PerSecond(counters.Sets), counters.SetLatencies);
        AddRow(table, "all", result.PerSecond(counters.Operations), all);
        table.WriteTo(output);
        output.WriteLine();

        var facts = new TextTable("", "");
        foreach ((string name, string text) in Facts(result))
        {
            facts.Add(name, text);
        }

        facts.WriteTo(output);
        WriteHistogram(output, all);
    }

    public static void WriteJson(Utf8JsonWriter writer, LoadResult result)
    {
        LoadPlan plan = result.Plan;
        LoadCounters counters = result.Counters;
        writer.WriteString("server"u8, plan.Target.Address.ToString());
        writer.WriteString("name"u8, result.ServerName);
        writer.WriteString("protocol"u8, result.Protocol);
        writer.WriteNumber("connections"u8, plan.Connections);
        writer.WriteNumber("pipeline"u8, plan.Pipeline);
        writer.WriteNumber("threads"u8, plan.Threads);
        writer.WriteNumber("keys"u8, plan.Keys);
        writer.WriteNumber("minValueBytes"u8, plan.MinValueBytes);
        writer.WriteNumber("maxValueBytes"u8, plan.MaxValueBytes);
        writer.WriteNumber("setPercent"u8, plan.SetPercent);
        writer.WriteString("distribution"u8, Distribution(plan));
        writer.WriteNumber("keysPerGet"u8, plan.KeysPerGet);
        writer.WriteNumberOrNull("rate"u8, plan.RequestsPerSecond);
        writer.WriteNumber("seed"u8, plan.Seed);
        writer.WriteBoolean("complete"u8, result.IsComplete);
        writer.WriteNumber("seconds"u8, Math.Round(result.Elapsed.TotalSeconds, 6));
        writer.WriteNumber("requests"u8, counters.Requests);
        writer.WriteNumber("operations"u8, counters.Operations);
        writer.WriteNumber("operationsPerSecond"u8, Math.Round(result.PerSecond(counters.Operations), 1));
        writer.WriteNumber("gets"u8, counters.Gets);
        writer.WriteNumber("hits"u8, counters.Hits);
        writer.WriteRatio("hitRatio"u8, result.HitRatio);
        writer.WriteNumber("sets"u8, counters.Sets);
        writer.WriteNumber("bytesSentPerSecond"u8, Math.Round(result.PerSecond(counters.BytesSent)));
        writer.WriteNumber("bytesReceivedPerSecond"u8, Math.Round(result.PerSecond(counters.BytesReceived)));
        writer.WriteNumber("processorSeconds"u8, Math.Round(result.ProcessorTime.TotalSeconds, 6));
        writer.WriteStartObject("errors"u8);
        foreach ((string text, long count) in result.Errors)
        {
            writer.WriteNumber(text, count);
        }

        writer.WriteEndObject();
        writer.WriteNumber("lostConnections"u8, result.LostConnections);
        writer.WriteNumber("lostRequests"u8, result.LostRequests);
        writer.WriteNumberOrNull("wrongValues"u8, plan.IsVerified ? result.WrongValues : null);
        writer.WriteStartObject("latency"u8);
        WriteLatency(writer, "all"u8, All(counters));
        WriteLatency(writer, "get"u8, counters.GetLatencies);
        WriteLatency(writer, "set"u8, counters.SetLatencies);
        writer.WriteEndObject();
    }

    private static string Describe(LoadPlan plan)
    {
        string rate = plan.RequestsPerSecond is { } perSecond ? string.Create(CultureInfo.InvariantCulture, $", {perSecond:N0} requests/s") : "";
        string several = plan.KeysPerGet > 1 ? $", {Figures.Count(plan.KeysPerGet)} keys a get" : "";
        string values = plan.MinValueBytes == plan.MaxValueBytes
            ? Figures.Bytes(plan.MinValueBytes)
            : $"{Figures.Bytes(plan.MinValueBytes)} to {Figures.Bytes(plan.MaxValueBytes)}";
        return $"{Amount(plan.Connections, "connection")}, pipeline {Figures.Count(plan.Pipeline)}, {Amount(plan.Threads, "thread")}{rate}, "
            + $"{plan.SetPercent} % sets{several}, {Figures.Count(plan.Keys)} keys ({Distribution(plan)}), values of {values}";
    }

    private static string Amount(int count, string what) => $"{Figures.Count(count)} {what}{(count == 1 ? "" : "s")}";

    private static string Distribution(LoadPlan plan) =>
        plan.ZipfExponent is { } exponent ? string.Create(CultureInfo.InvariantCulture, $"zipf:{exponent}") : "uniform";

    private static string Seconds(TimeSpan time) => string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");

    private static LatencyHistogram All(LoadCounters counters)
    {
        var all = new LatencyHistogram();
        all.Add(counters.GetLatencies);
        all.Add(counters.SetLatencies);
        return all;
    }

    private static void AddRow(TextTable table, string name, double perSecond, LatencyHistogram latencies)
    {
        bool isEmpty = latencies.Count == 0;
        table.Add([name, Figures.Count((long)perSecond), .. Percentiles.Select(percentile => isEmpty ? "-" : Figures.Latency(latencies.Percentile(percentile.Part)))]);
    }

    private static IEnumerable<(string Name, string Text)> Facts(LoadResult result)
    {
        LoadCounters counters = result.Counters;
        yield return ("hit ratio", result.HitRatio is { } ratio ? $"{Figures.Percent(ratio)}{Hint(result)}" : "-");
        yield return ("received", $"{Figures.Bytes((long)result.PerSecond(counters.BytesReceived))}/s");
        yield return ("sent", $"{Figures.Bytes((long)result.PerSecond(counters.BytesSent))}/s");
        double each = counters.Operations == 0 ? 0 : result.ProcessorTime.TotalNanoseconds / counters.Operations;
        double cores = result.Elapsed > TimeSpan.Zero ? result.ProcessorTime / result.Elapsed : 0;
        yield return ("this tool", $"{Figures.Latency((long)each)} of processor time an operation, {Figures.Percent(cores)} of a core");
        string name = "errors";
        foreach ((string text, long count) in result.Errors)
        {
            yield return (name, $"{Figures.Count(count)}  {text}");
            name = "";
        }

        if (result.LostConnections > 0)
        {
            yield return ("lost", $"{Figures.Count(result.LostConnections)} connections, with {Figures.Count(result.LostRequests)} requests under way");
        }

        if (result.Plan.IsVerified)
        {
            yield return ("verified", result.WrongValues == 0 ? "every value was right" : $"{Figures.Count(result.WrongValues)} values were wrong");
        }
    }

    private static string Hint(LoadResult result) =>
        result.Counters.Hits == 0 && !result.Plan.IsFilledFirst ? ": nothing was there; --load sets all keys first" : "";

    // Each row is half an octave of latency, a factor of 1.41. This shows a second peak as well as a long tail.
    private static void WriteHistogram(ToolOutput output, LatencyHistogram latencies)
    {
        const int LongestBar = 40;
        long all = latencies.Count;
        if (all == 0)
        {
            return;
        }

        var rows = new SortedDictionary<int, long>();
        foreach ((long from, _, long count) in latencies.Filled())
        {
            int row = HalfOctave(from);
            rows[row] = rows.GetValueOrDefault(row) + count;
        }

        long most = rows.Values.Max();
        long sum = 0;
        var table = new TextTable(">latency up to", ">requests", ">so far", "");
        for (int row = rows.Keys.First(); row <= rows.Keys.Last(); row++)
        {
            long count = rows.GetValueOrDefault(row);
            sum += count;
            string part = string.Create(CultureInfo.InvariantCulture, $"{100.0 * sum / all:0.000} %");
            table.Add(
                Figures.Latency((long)Math.Pow(2, (row + 1) / 2.0)), Figures.Count(count), part, new string('█', (int)Math.Ceiling((double)count / most * LongestBar)));
        }

        output.WriteLine();
        table.WriteTo(output);
    }

    private static int HalfOctave(long nanoseconds) => (int)Math.Floor(2 * Math.Log2(Math.Max(1, nanoseconds)));

    private static void WriteLatency(Utf8JsonWriter writer, ReadOnlySpan<byte> name, LatencyHistogram latencies)
    {
        writer.WriteStartObject(name);
        writer.WriteNumber("count"u8, latencies.Count);
        writer.WriteNumber("meanUs"u8, Microseconds(latencies.MeanNs));
        writer.WriteNumber("p50Us"u8, Microseconds(latencies.Percentile(0.5)));
        writer.WriteNumber("p90Us"u8, Microseconds(latencies.Percentile(0.9)));
        writer.WriteNumber("p99Us"u8, Microseconds(latencies.Percentile(0.99)));
        writer.WriteNumber("p999Us"u8, Microseconds(latencies.Percentile(0.999)));
        writer.WriteNumber("maxUs"u8, Microseconds(latencies.Percentile(1)));
        writer.WriteStartArray("histogram"u8);
        foreach ((long from, long to, long count) in latencies.Filled())
        {
            writer.WriteStartObject();
            writer.WriteNumber("fromUs"u8, Microseconds(from));
            writer.WriteNumber("toUs"u8, Microseconds(to));
            writer.WriteNumber("count"u8, count);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    private static double Microseconds(double nanoseconds) => Math.Round(nanoseconds / 1000, 3);
}
