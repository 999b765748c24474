using System.Text.Json;
using Cairn.Cli.Output;

namespace Cairn.Cli.Formats;

/// <summary>Shows comparisons: as a table with bars, or as JSON.</summary>
internal static class FormatReport
{
    private const int WidestBar = 40;

    /// <summary>The four parts of a bar, in the order in which they happen.</summary>
    public static IReadOnlyList<Part> Parts { get; } =
    [
        new('s', "serialize", "#4477aa", round => round.Serialize),
        new('w', "write", "#ccbb44", round => round.Write),
        new('r', "read", "#ee6677", round => round.Read),
        new('d', "deserialize", "#66ccee", round => round.Deserialize),
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
                .. Parts.Select(part => Time(trial.Median(part.Of))),
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
                foreach (Part part in Parts)
                {
                    json.WriteNumber(part.Name + "Us", Rounded(trial.Median(part.Of)));
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

    public static double Total(FormatTrial.Round round) => round.Serialize + round.Write + round.Read + round.Deserialize;

    public static string Time(double microseconds) => Figures.Latency((long)(microseconds * 1000));

    private static void WriteBars(ToolOutput output, FormatComparison comparison)
    {
        double longest = comparison.Trials.Max(trial => trial.Median(Total));
        int width = comparison.Trials.Max(trial => FormatComparison.NameOf(trial).Length);
        foreach (FormatTrial trial in comparison.Trials)
        {
            string bar = string.Concat(Parts.Select(part => new string(part.Mark, (int)Math.Round(trial.Median(part.Of) / longest * WidestBar))));
            output.WriteLine($"  {FormatComparison.NameOf(trial).PadRight(width)}  {bar} {Time(trial.Median(Total))}");
        }

        output.WriteLine($"  {new string(' ', width)}  {string.Join(", ", Parts.Select(part => $"{part.Mark} {part.Name}"))}");
    }

    private static double Rounded(double microseconds) => Math.Round(microseconds, 3);

    /// <summary>A part of a round.</summary>
    /// <param name="Mark">What bars of text are made of.</param>
    /// <param name="Name">What it is called.</param>
    /// <param name="Colour">What colour it has in pictures.</param>
    /// <param name="Of">How long it took, in microseconds.</param>
    internal sealed record Part(char Mark, string Name, string Colour, Func<FormatTrial.Round, double> Of);
}
