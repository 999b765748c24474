using Spectre.Console;

namespace Cairn.Cli.Reports;

// Draws the screen of `cairn top` for a store. Only such screens load Spectre.Console, so the start of other commands is not slower.
internal static class ActivityScreen
{
    private const int MostCollections = 10;

    // Switches to the alternate screen of the terminal and hides the cursor. Leave reverts both.
    public const string Enter = "\e[?1049h\e[?25l";
    public const string Leave = "\e[?25h\e[?1049l";

    /// <summary>Returns the screen, cut to the size of the terminal, with the control sequences that draw it over the previous one.</summary>
    public static string Draw(string path, Activity activity, int width, int height)
    {
        string picture = TerminalPicture.Draw(width, console =>
        {
            console.Write(new Rule($"[bold]{Markup.Escape(path)}[/]").LeftJustified());
            console.Write(Summary(activity));
            console.Write(Rates(activity));
            console.Write(Collections(activity));
        });

        return TerminalPicture.Over(picture, "q quits", width, height);
    }

    private static Grid Summary(Activity activity)
    {
        StoreStatistics statistics = activity.Statistics;
        double index = statistics.IndexSlots == 0 ? 0 : (double)statistics.Totals.Entries / statistics.IndexSlots;
        double fill = StatisticsReport.Fill(statistics);
        Grid grid = new Grid().AddColumn().AddColumn().AddColumn();
        grid.AddRow("entries", Figures.Count(statistics.Totals.Entries), $"{Bar(index)} {Figures.Percent(index)} of the index");
        grid.AddRow("bytes", Figures.Bytes(statistics.Totals.Bytes), $"{Bar(fill)} {Figures.Percent(fill)} of {Figures.Bytes(statistics.FileBytes)}");
        grid.AddRow("openings", Figures.Count(statistics.Openings), Figures.Moment(activity.At));
        return grid;
    }

    private static string Bar(double part)
    {
        const int Length = 24;
        int filled = (int)Math.Round(Math.Clamp(part, 0, 1) * Length);
        return $"[green]{new string('█', filled)}[/][dim]{new string('░', Length - filled)}[/]";
    }

    private static Table Rates(Activity activity)
    {
        PartitionStatistics totals = activity.Statistics.Totals;
        Table table = new Table().RoundedBorder().AddColumn("").AddColumn(Right("per second")).AddColumn(Right("since creation"));
        table.AddRow("gets", Rate(activity.GetsPerSecond), Figures.Count(totals.Hits + totals.Misses));
        table.AddRow(
            "hit ratio",
            activity.HitRatio is { } ratio ? Figures.Percent(ratio) : "-",
            totals.Hits + totals.Misses == 0 ? "-" : Figures.Percent(totals.HitRatio));
        table.AddRow("sets", Rate(activity.SetsPerSecond), Figures.Count(totals.Sets));
        table.AddRow("removals", Rate(activity.RemovalsPerSecond), Figures.Count(totals.Removals));
        table.AddRow("evictions", Rate(activity.EvictionsPerSecond), Figures.Count(totals.Evictions));
        table.AddRow("expirations", Rate(activity.ExpirationsPerSecond), Figures.Count(totals.Expirations));
        return table;
    }

    private static Table Collections(Activity activity)
    {
        Table table = new Table().RoundedBorder().AddColumn("collection").AddColumn(Right("entries")).AddColumn(Right("bytes"));
        IEnumerable<CollectionStatistics> biggest =
            StatisticsReport.AllCollections(activity.Statistics).OrderByDescending(collection => collection.Bytes).Take(MostCollections);
        foreach (CollectionStatistics collection in biggest)
        {
            table.AddRow(
                Markup.Escape(StatisticsReport.NameOf(collection)), Figures.Count(collection.Entries), Figures.Bytes(collection.Bytes));
        }

        return table;
    }

    private static TableColumn Right(string heading) => new TableColumn(heading).RightAligned();

    private static string Rate(double perSecond) => Figures.Count((long)Math.Round(perSecond));
}
