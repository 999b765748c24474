using System.Diagnostics;
using Cairn.Caching;
using Cairn.Cli.Output;

namespace Cairn.Cli.Formats;

/// <summary>The formats beside each other, for one number of records.</summary>
internal sealed class FormatComparison
{
    private const int FewestRounds = 5;
    private const int MostRounds = 2_000;

    private FormatComparison(int records, IReadOnlyList<FormatTrial> trials)
    {
        Records = records;
        Trials = trials;
    }

    public int Records { get; }

    public IReadOnlyList<FormatTrial> Trials { get; }

    /// <summary>Runs all formats by turns until the time is up, so that what disturbs the machine disturbs all of them.</summary>
    public static FormatComparison Run(int records, IFormatTransport transport, TimeSpan time, ToolConsole console)
    {
        Catalogue value = Catalogue.Make(records);
        List<FormatTrial> trials =
        [
            .. from format in ComparedFormats.All
               from trial in (FormatTrial[])[new(format, isCompressed: false, value, transport), new(format, isCompressed: true, value, transport)]
               select trial,
        ];
        using var progress = new ProgressLine(console, $"Comparing with {Figures.Count(records)} records", "rounds");
        try
        {
            long startedAt = Stopwatch.GetTimestamp();
            for (int round = -1; round < FewestRounds || (round < MostRounds && Stopwatch.GetElapsedTime(startedAt) < time); round++)
            {
                foreach (FormatTrial trial in trials)
                {
                    console.Interruption.ThrowIfCancellationRequested();
                    trial.Run(counts: round >= 0);
                }

                // The first one only warms up.
                startedAt = round < 0 ? Stopwatch.GetTimestamp() : startedAt;
                progress.Report(round + 1, 0, 0);
            }
        }
        finally
        {
            foreach (FormatTrial trial in trials)
            {
                trial.Dispose();
            }
        }

        return new FormatComparison(records, trials);
    }

    public static string NameOf(FormatTrial trial) => (trial.Format switch
    {
        CairnFormat.Json => "JSON",
        CairnFormat.Xml => "XML",
        CairnFormat.Binary => "binary XML",
        _ => "protobuf",
    }) + (trial.IsCompressed ? " + Brotli" : "");
}
