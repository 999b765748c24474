using System.Text.Json;
using Cairn.Cli.Output;

namespace Cairn.Cli.Formats;

/// <summary>Shows comparisons: as a table with bars, or as JSON.</summary>
internal static class FormatReport
{
    private const int WidestBar = 40;

    // The four parts of a bar.
    private static readonly (char Mark, string Name, Func<FormatTrial.Round, double> Part)[] Parts =
    [
        ('s', "serialize", round => round.Serialize),
        ('w', "write", round => round.Write),
        ('r', "read", round => round.Read),
        ('d', "deserialize", round => round.Deserialize),
    ];

    public static void WriteText(ToolOutput output, FormatComparison comparison, string transport)
    {
        output.WriteLine($"{Figures.Count(comparison.Records)} records, {transport}, medians of {Figures.Count(comparison.Trials[0].Rounds)} rounds");
        var table = new TextTable("", ">bytes", ">serialize", ">write", ">read", ">deserialize", ">total", ">allocated, writing", ">reading");
        foreach (FormatTrial trial in comparison.Trials)
        {
            table.Add(
            [
                "  " + FormatComparison.NameOf(trial),
                Figures.Count(trial.Bytes),
                .. Parts.Select(part => Time(trial.Median(part.Part))),
                Time(trial.Median(Total)),
                Figures.Bytes((long)trial.Median(round => round.SerializeAllocated)),
                Figures.Bytes((long)trial.Median(round => round.DeserializeAllocated)),
            ]);
        }

        table.WriteTo(output);
        output.WriteLine();
        WriteBars(output, comparison);
        output.WriteLine();
    }

    public static void WriteJson(Utf8JsonWriter json, IReadOnlyList<FormatComparison> comparisons, string transport)
    {
        json.WriteString("transport"u8, transport);
        json.WriteStartArray("comparisons"u8);
        foreach (FormatComparison comparison in comparisons)
        {
            json.WriteStartObject();
            json.WriteNumber("records"u8, comparison.Records);
            json.WriteNumber("rounds"u8, comparison.Trials[0].Rounds);
            json.WriteStartArray("formats"u8);
            foreach (FormatTrial trial in comparison.Trials)
            {
                json.WriteStartObject();
#pragma warning disable CA1308 // Names in JSON are lower case.
                json.WriteString("format"u8, trial.Format.ToString().ToLowerInvariant());
#pragma warning restore CA1308
                json.WriteBoolean("compressed"u8, trial.IsCompressed);
                json.WriteNumber("bytes"u8, trial.Bytes);
                foreach ((_, string name, Func<FormatTrial.Round, double> part) in Parts)
                {
                    json.WriteNumber(name + "Us", Rounded(trial.Median(part)));
                }

                json.WriteNumber("totalUs"u8, Rounded(trial.Median(Total)));
                json.WriteNumber("serializeAllocatedBytes"u8, (long)trial.Median(round => round.SerializeAllocated));
                json.WriteNumber("deserializeAllocatedBytes"u8, (long)trial.Median(round => round.DeserializeAllocated));
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteBars(ToolOutput output, FormatComparison comparison)
    {
        double longest = comparison.Trials.Max(trial => trial.Median(Total));
        int width = comparison.Trials.Max(trial => FormatComparison.NameOf(trial).Length);
        foreach (FormatTrial trial in comparison.Trials)
        {
            string bar = string.Concat(Parts.Select(part => new string(part.Mark, (int)Math.Round(trial.Median(part.Part) / longest * WidestBar))));
            output.WriteLine($"  {FormatComparison.NameOf(trial).PadRight(width)}  {bar} {Time(trial.Median(Total))}");
        }

        output.WriteLine($"  {new string(' ', width)}  {string.Join(", ", Parts.Select(part => $"{part.Mark} {part.Name}"))}");
    }

    private static double Total(FormatTrial.Round round) => round.Serialize + round.Write + round.Read + round.Deserialize;

    private static string Time(double microseconds) => Figures.Latency((long)(microseconds * 1000));

    private static double Rounded(double microseconds) => Math.Round(microseconds, 3);
}
