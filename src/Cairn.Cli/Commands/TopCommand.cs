using Cairn.Cli.Clients;
using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

internal sealed class TopCommand : ToolCommand
{
    private const int LinesPerHeading = 20;
    private static readonly TimeSpan DefaultInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan KeyInterval = TimeSpan.FromMilliseconds(50);

    private readonly ServerArguments _server = new();
    private readonly SharedOptions _shared;
    private readonly ValueOption<TimeSpan> _interval = ValueOptions.Time("--interval", "Time between samples. Default 1s.");
    private readonly ValueOption<int> _count = ValueOptions.Count("--count", "Stop after this many samples.", 1, int.MaxValue);

    public TopCommand(SharedOptions shared)
        : base("top", "Shows the activity of a store or a server every second.")
    {
        _shared = shared;
        _server.AddTo(this);
        Add(_interval);
        Add(_count);
    }

    public override string UsageWords => "[ADDRESS | --store FILE]";

    public override string Details =>
        $"With ADDRESS it shows a server that speaks the memcached protocol or RESP, from its stats or INFO. Without ADDRESS and without a store it shows {ServerArguments.DefaultAddress}. A server that does not answer is shown as such until it returns. On a terminal the command draws a screen, which q or Ctrl-C ends. Elsewhere, and with --json, it prints one line per sample. Reads of other processes appear up to one second late.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn top --store books.cairn", "Shows a screen."),
        new("cairn top 6379", "Shows a server on this machine; h lists the keys."),
        new("cairn top cache.example:11211 --json --interval 10s >> cache.stats", "Records a server on any machine."),
        new("cairn top --store books.cairn --count 60 > minute.txt", "A minute's lines."),
        new("cairn top --store books.cairn --json --count 1", "One sample, for programs."),
    ];

    public override string JsonShape =>
        """One line per sample: {"at", "getsPerSecond", "hitRatio" (null without gets), "setsPerSecond", "removalsPerSecond", "evictionsPerSecond", "expirationsPerSecond", "entries", "bytes", "fill", "openings"}. Of a server: {"at", "server", "name", "up", "problem"? (if it is not up), "uptimeSeconds", "operationsPerSecond", "commands": {NAME: PER SECOND}, "hitRatio", "bytesReceivedPerSecond", "bytesSentPerSecond", "evictionsPerSecond", "expirationsPerSecond", "items", "memoryBytes", "memoryLimitBytes" (0 without), "connections", "latenciesUs": {NAME: {"p50", "p99", "p999"}}}.""";

    public override int Run(Invocation invocation)
    {
        DescriptorLimit.RequireFor(192, "'cairn top'");
        TimeSpan interval = StatsCommand.IntervalOf(invocation.Get(_interval), DefaultInterval);
        int looks = invocation.Get(_count) ?? int.MaxValue;
        bool isScreen = invocation.Console.IsOutputTerminal && !invocation.IsJson
            && invocation.Console.GetEnvironmentVariable("TERM") is not ("dumb" or "" or null);
        ServerTarget? server = _server.FindOrDefault(invocation, _shared.Store);

        try
        {
            // Registered before the first output, so that a user who has seen it can interrupt.
            invocation.Console.Interruption.ThrowIfCancellationRequested();
            if (server is not null)
            {
                ShowServer(invocation, server, interval, looks, isScreen);
            }
            else
            {
                ShowStore(invocation, interval, looks, isScreen);
            }
        }
        catch (OperationCanceledException) when (invocation.Console.InterruptedCode == ExitCode.Interrupted)
        {
            // Ctrl-C is the usual way to leave.
        }

        return ExitCode.Done;
    }

    private static void ShowServer(Invocation invocation, ServerTarget target, TimeSpan interval, int looks, bool isScreen)
    {
        using var server = new ServerTop(invocation, target, interval, looks);
        if (isScreen)
        {
            server.ShowScreen();
        }
        else
        {
            server.PrintLines();
        }
    }

    private static void ShowStore(Invocation invocation, TimeSpan interval, int looks, bool isScreen)
    {
        using CairnStore store = invocation.OpenExisting();
        if (isScreen)
        {
            ShowScreen(invocation, store, interval, looks);
        }
        else
        {
            PrintLines(invocation, store, interval, looks);
        }
    }

    private static void ShowScreen(Invocation invocation, CairnStore store, TimeSpan interval, int looks)
    {
        ToolOutput output = invocation.Output;
        output.Write(ActivityScreen.Enter);
        try
        {
            foreach (Activity activity in Looks(invocation, store, () => WaitForQuit(invocation.Console, interval)).Take(looks))
            {
                output.Write(ActivityScreen.Draw(invocation.StorePath, activity, invocation.Console.Width, invocation.Console.Height));
                output.Flush();
            }
        }
        finally
        {
            output.Write(ActivityScreen.Leave);
            output.Flush();
        }
    }

    private static void PrintLines(Invocation invocation, CairnStore store, TimeSpan interval, int looks)
    {
        int printed = 0;
        bool Wait()
        {
            invocation.Console.Wait(interval);
            return true;
        }

        foreach (Activity activity in Looks(invocation, store, Wait).Skip(1).Take(looks))
        {
            if (invocation.IsJson)
            {
                WriteJson(invocation.Output, activity);
            }
            else
            {
                if (printed % LinesPerHeading == 0)
                {
                    invocation.Output.WriteLine(
                        $"{"time",-24} {"gets/s",12} {"hits",8} {"sets/s",12} {"evictions/s",12} {"entries",14} {"bytes",10} {"fill",8}");
                }

                WriteLine(invocation.Output, activity);
            }

            printed++;
            invocation.Output.Flush();
        }
    }

    /// <summary>Samples the store until the wait returns false. The first sample is immediate and has nothing to compare with.</summary>
    private static IEnumerable<Activity> Looks(Invocation invocation, CairnStore store, Func<bool> wait)
    {
        TimeProvider clock = invocation.Console.Clock;
        StoreStatistics before = store.GetStatistics();
        long lookedAt = clock.GetTimestamp();
        yield return Activity.Between(before, before, clock.GetUtcNow(), TimeSpan.FromSeconds(1));
        while (wait())
        {
            StoreStatistics now = store.GetStatistics();
            TimeSpan elapsed = clock.GetElapsedTime(lookedAt);
            lookedAt = clock.GetTimestamp();
            yield return Activity.Between(before, now, clock.GetUtcNow(), elapsed);
            before = now;
        }
    }

    private static bool WaitForQuit(ToolConsole console, TimeSpan interval)
    {
        for (TimeSpan waited = TimeSpan.Zero; waited < interval; waited += KeyInterval)
        {
            if (console.TryReadKey() is 'q' or 'Q' or '\e')
            {
                return false;
            }

            console.Wait(interval < KeyInterval ? interval : KeyInterval);
        }

        return true;
    }

    private static void WriteLine(ToolOutput output, Activity activity)
    {
        string hits = activity.HitRatio is { } ratio ? Figures.Percent(ratio) : "-";
        output.WriteLine(
            $"{Figures.Moment(activity.At),-24} {Rate(activity.GetsPerSecond),12} {hits,8} {Rate(activity.SetsPerSecond),12} " +
            $"{Rate(activity.EvictionsPerSecond),12} {Figures.Count(activity.Statistics.Totals.Entries),14} {Figures.Bytes(activity.Statistics.Totals.Bytes),10} " +
            $"{Figures.Percent(StatisticsReport.Fill(activity.Statistics)),8}");
    }

    private static string Rate(double perSecond) => perSecond.ToString("N0", CultureInfo.InvariantCulture);

    private static void WriteJson(ToolOutput output, Activity activity)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteString("at"u8, Figures.Moment(activity.At));
        line.Writer.WriteNumber("getsPerSecond"u8, Math.Round(activity.GetsPerSecond, 1));
        line.Writer.WriteRatio("hitRatio"u8, activity.HitRatio);
        line.Writer.WriteNumber("setsPerSecond"u8, Math.Round(activity.SetsPerSecond, 1));
        line.Writer.WriteNumber("removalsPerSecond"u8, Math.Round(activity.RemovalsPerSecond, 1));
        line.Writer.WriteNumber("evictionsPerSecond"u8, Math.Round(activity.EvictionsPerSecond, 1));
        line.Writer.WriteNumber("expirationsPerSecond"u8, Math.Round(activity.ExpirationsPerSecond, 1));
        line.Writer.WriteNumber("entries"u8, activity.Statistics.Totals.Entries);
        line.Writer.WriteNumber("bytes"u8, activity.Statistics.Totals.Bytes);
        line.Writer.WriteNumber("fill"u8, Math.Round(StatisticsReport.Fill(activity.Statistics), 6));
        line.Writer.WriteNumber("openings"u8, activity.Statistics.Openings);
    }
}
