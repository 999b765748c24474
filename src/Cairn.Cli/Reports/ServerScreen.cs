using Cairn.Cli.Clients;
using Spectre.Console;

namespace Cairn.Cli.Reports;

/// <summary>The display options that the user has selected with the keyboard.</summary>
internal sealed record ServerView
{
    public required TimeSpan Interval { get; init; }

    public bool IsPaused { get; init; }

    /// <summary>Gets the number of rows of the command table above the visible part.</summary>
    public int Scrolled { get; init; }

    public bool ShowsKeys { get; init; }
}

// Draws the screen of `cairn top` for a server. Like ActivityScreen, it is drawn over the previous one. It is cut to the size of the
// terminal.
internal static class ServerScreen
{
    // The number of rows without the contents of the two tables, including their borders.
    private const int FixedRows = 13;
    private const int FewestRows = 3;

    public static string Draw(string address, string serverName, ServerActivity activity, ServerView view, int width, int height)
    {
        string picture = TerminalPicture.Draw(width, console =>
        {
            console.Write(new Rule($"[bold]{Markup.Escape(address)}[/] {Markup.Escape(KeyText.Escape(System.Text.Encoding.UTF8.GetBytes(serverName)))}").LeftJustified());
            if (activity.Sample is { } sample)
            {
                console.Write(Summary(activity, sample));
                console.Write(Commands(activity, sample, view, height - FixedRows - sample.SlowRequests.Count));
                WriteSlowRequests(console, sample);
            }
            else
            {
                console.Write(new Markup($"[red]away[/] at {Figures.Moment(activity.At)}: {Markup.Escape(activity.Absence ?? "")}; trying again\n"));
            }
        });

        return TerminalPicture.Over(picture, KeysLine(view), width, height);
    }

    // A narrow terminal cuts the end of the line.
    private static string KeysLine(ServerView view)
    {
        string interval = string.Create(CultureInfo.InvariantCulture, $"every {view.Interval.TotalSeconds:0.##} s");
        string keys = view.ShowsKeys ? "space pauses · ↑ ↓ scroll the commands · + - longer or shorter interval · h less" : "h help";
        return $"q quits · {interval}{(view.IsPaused ? " · PAUSED" : "")} · {keys}";
    }

    private static Grid Summary(ServerActivity activity, ServerSample sample)
    {
        string ratio = activity.HitRatio is { } now ? Figures.Percent(now) : "-";
        string overall = sample.Hits + sample.Misses == 0 ? "-" : Figures.Percent((double)sample.Hits / (sample.Hits + sample.Misses));
        string memory = sample.MemoryLimitBytes > 0
            ? $"{Figures.Bytes(sample.MemoryBytes)} of {Figures.Bytes(sample.MemoryLimitBytes)}"
            : Figures.Bytes(sample.MemoryBytes);
        Grid grid = new Grid().AddColumn().AddColumn().AddColumn().AddColumn();
        grid.AddRow("operations/s", Rate(activity.AllPerSecond), "items", Figures.Count(sample.Items));
        grid.AddRow("hit ratio", $"{ratio} (since start {overall})", "memory", memory);
        grid.AddRow("received", $"{Figures.Bytes((long)activity.BytesReceivedPerSecond)}/s", "connections", Figures.Count(sample.Connections));
        grid.AddRow("sent", $"{Figures.Bytes((long)activity.BytesSentPerSecond)}/s", "evictions", $"{Rate(activity.EvictionsPerSecond)}/s, {Figures.Count(sample.Evictions)} in all");
        grid.AddRow(
            activity.IsRestarted ? "[yellow]restarted[/]" : "up", Figures.Time(sample.Uptime), "expirations",
            $"{Rate(activity.ExpirationsPerSecond)}/s, {Figures.Count(sample.Expirations)} in all");
        return grid;
    }

    private static Table Commands(ServerActivity activity, ServerSample sample, ServerView view, int rows)
    {
        bool hasLatencies = sample.Latencies.Count > 0;
        Table table = new Table().RoundedBorder().AddColumn("command").AddColumn(Right("per second")).AddColumn(Right("since start"));
        if (hasLatencies)
        {
            table.AddColumn(Right("p50")).AddColumn(Right("p99")).AddColumn(Right("p99.9"));
        }

        foreach ((string name, long count) in InOrder(activity, sample).Skip(view.Scrolled).Take(Math.Max(FewestRows, rows)))
        {
            var cells = new List<string> { Markup.Escape(KeyText.Escape(System.Text.Encoding.UTF8.GetBytes(name))), Rate(activity.OperationsPerSecond.GetValueOrDefault(name)), Figures.Count(count) };
            if (hasLatencies)
            {
                CommandLatency? latency = sample.Latencies.GetValueOrDefault(name);
                cells.AddRange([Latency(latency?.P50), Latency(latency?.P99), Latency(latency?.P999)]);
            }

            table.AddRow([.. cells]);
        }

        return table;
    }

    // Sorts by rate, the highest first. The order is stable while the server is idle.
    private static IEnumerable<KeyValuePair<string, long>> InOrder(ServerActivity activity, ServerSample sample) => sample.Operations
        .Where(pair => pair.Value > 0)
        .OrderByDescending(pair => activity.OperationsPerSecond.GetValueOrDefault(pair.Key))
        .ThenByDescending(pair => pair.Value)
        .ThenBy(pair => pair.Key, StringComparer.Ordinal);

    private static void WriteSlowRequests(IAnsiConsole console, ServerSample sample)
    {
        foreach (SlowRequestLine slow in sample.SlowRequests)
        {
            console.Write(new Markup($"[dim]slow[/] {Figures.Moment(slow.At)} {Figures.Latency((long)slow.Duration.TotalNanoseconds),9} {Markup.Escape(slow.Text)}\n"));
        }
    }

    private static TableColumn Right(string heading) => new TableColumn(heading).RightAligned();

    private static string Latency(double? microseconds) => microseconds is { } known ? Figures.Latency((long)(known * 1000)) : "-";

    private static string Rate(double perSecond) => Figures.Count((long)Math.Round(perSecond));
}
