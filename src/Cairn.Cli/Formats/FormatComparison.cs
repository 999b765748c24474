using System.Diagnostics;
using System.Runtime;
using Cairn.Caching;
using Cairn.Cli.Output;

namespace Cairn.Cli.Formats;

/// <summary>The formats beside each other, for one number of records.</summary>
internal sealed class FormatComparison
{
    private const int FewestRounds = 5;
    private const int MostRounds = 2_000;

    // Methods are compiled again after 30 calls, and once more after another 30, by a thread that waits until nothing new was compiled for
    // 100 ms.
    private const int WarmUpRounds = 40;
    private const int LeastWarmUpPasses = 2;
    private static readonly TimeSpan CompilerPause = TimeSpan.FromMilliseconds(150);

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
            WarmUp(trials, time, console);
            long startedAt = Stopwatch.GetTimestamp();
            for (int round = 0; round < FewestRounds || (round < MostRounds && Stopwatch.GetElapsedTime(startedAt) < time); round++)
            {
                RunRound(trials, counts: true, console);
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

    // Rounds that nobody counts, until the compiler has nothing left to improve, but no longer than the rounds that count.
    private static void WarmUp(List<FormatTrial> trials, TimeSpan time, ToolConsole console)
    {
        long startedAt = Stopwatch.GetTimestamp();
        for (int pass = 1; ; pass++)
        {
            long passStartedAt = Stopwatch.GetTimestamp();
            long compiledBefore = JitInfo.GetCompiledMethodCount();
            for (int round = 0; round == 0 || (round < WarmUpRounds && Stopwatch.GetElapsedTime(passStartedAt) < time / LeastWarmUpPasses / 2); round++)
            {
                RunRound(trials, counts: false, console);
            }

            if (Stopwatch.GetElapsedTime(startedAt) >= time)
            {
                return;
            }

            console.Interruption.WaitHandle.WaitOne(CompilerPause);
            if (pass >= LeastWarmUpPasses && JitInfo.GetCompiledMethodCount() == compiledBefore)
            {
                return;
            }
        }
    }

    private static void RunRound(List<FormatTrial> trials, bool counts, ToolConsole console)
    {
        foreach (FormatTrial trial in trials)
        {
            console.Interruption.ThrowIfCancellationRequested();
            trial.Run(counts);
        }
    }
}
