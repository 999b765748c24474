using Cairn.Cli.Clients;
using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

internal sealed class StatsCommand : ToolCommand
{
    private static readonly TimeSpan DefaultInterval = TimeSpan.FromSeconds(2);

    private readonly ServerArguments _server = new();
    private readonly SharedOptions _shared;
    private readonly Flag _partitions = new("--partitions", "Also print each partition.");
    private readonly Flag _sizes = new("--sizes", "Also print the distribution of value lengths; reads the whole index.");
    private readonly Flag _watch = new("--watch", "Print repeatedly until Ctrl-C.");
    private readonly ValueOption<TimeSpan> _interval = ValueOptions.Time("--interval", "Time between prints. Default 2s.");
    private readonly ValueOption<int> _count = ValueOptions.Count("--count", "With --watch, stop after this many prints.", 1, int.MaxValue);

    public StatsCommand(SharedOptions shared)
        : base("stats", "Prints the content and the counters of a store or a server.")
    {
        _shared = shared;
        _server.AddTo(this);
        Add(_partitions);
        Add(_sizes);
        Add(_watch);
        Add(_interval);
        Add(_count);
    }

    public override string UsageWords => "[ADDRESS | --store FILE]";

    public override string Details =>
        $"With ADDRESS it prints the figures of a server that speaks the memcached protocol or RESP, from its stats or INFO. Without ADDRESS and without a store it prints those of {ServerArguments.DefaultAddress}. Counters start with the creation of the store. Those of other processes are up to one second old. The command does not block other processes.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn stats --store books.cairn", "Prints totals and collections."),
        new("cairn stats --store books.cairn --partitions --sizes", "Prints everything."),
        new("cairn stats 6379", "The figures of a server on this machine."),
        new("cairn stats --store books.cairn --json | jq .hitRatio", "For programs."),
        new("cairn stats --store books.cairn --watch --interval 10s --json >> books.stats", "Appends a record every ten seconds."),
    ];

    public override string JsonShape =>
        """{"store", "fileBytes", "maxCapacityBytes", "createdAt", "openings", "segments", "bytesPerSegment", "freeSegments", "indexSlots", "growthFailure"?, "failedCheckpoints", COUNTERS, "collections": [{"name", "entries", "bytes", "budgetBytes", "region"}], "partitions"?: [{COUNTERS}], "sizes"?: {"entries", "valueBytes", "bins": [{"fromBytes", "toBytes", "entries", "valueBytes"}]}}, where COUNTERS are "entries", "bytes", "segmentBytes", "hits", "misses", "hitRatio", "sets", "removals", "evictions", "displacements", "expirations", "ghostHits", "declined", "dropped", "lockWaits", "recoveries", "damagedEntries". Of a server: {"server", "name", "uptimeSeconds", "commands": {NAME: COUNT}, "hits", "misses", "hitRatio" (null without gets), "bytesReceived", "bytesSent", "evictions", "expirations", "items", "memoryBytes", "memoryLimitBytes" (0 without), "connections"}. With --watch one line each time.""";

    public override int Run(Invocation invocation)
    {
        if (!invocation.Get(_watch) && (invocation.IsGiven(_interval) || invocation.IsGiven(_count)))
        {
            throw ToolException.Usage("--interval and --count go with --watch");
        }

        TimeSpan interval = IntervalOf(invocation.Get(_interval), DefaultInterval);
        if (_server.FindOrDefault(invocation, _shared.Store) is { } target)
        {
            if (invocation.IsGiven(_partitions) || invocation.IsGiven(_sizes))
            {
                throw ToolException.Usage("--partitions and --sizes are for stores");
            }

            using ServerLink link = ServerLink.Open(target);
            return Repeat(invocation, interval, () => ServerStatisticsReport.Write(invocation.Output, invocation.IsJson, target.Address.ToString(), link));
        }

        using CairnStore store = invocation.OpenExisting();
        return Repeat(invocation, interval, () => Print(invocation, store));
    }

    private int Repeat(Invocation invocation, TimeSpan interval, Action print)
    {
        if (!invocation.Get(_watch))
        {
            print();
            return ExitCode.Done;
        }

        // Registered before the first output, so that a user who has seen it can interrupt.
        CancellationToken interruption = invocation.Console.Interruption;
        int left = invocation.Get(_count) ?? int.MaxValue;
        while (true)
        {
            interruption.ThrowIfCancellationRequested();
            if (invocation.Console.IsOutputTerminal && !invocation.IsJson)
            {
                invocation.Output.Write("\e[H\e[2J");
            }

            print();
            invocation.Output.Flush();
            if (left != int.MaxValue && --left == 0)
            {
                return ExitCode.Done;
            }

            invocation.Console.Wait(interval);
        }
    }

    /// <summary>Returns the interval that was given, or the default, after checking its range.</summary>
    /// <exception cref="ToolException">The interval is out of range.</exception>
    public static TimeSpan IntervalOf(TimeSpan? given, TimeSpan otherwise)
    {
        TimeSpan interval = given ?? otherwise;
        return interval >= TimeSpan.FromMilliseconds(100) && interval <= TimeSpan.FromDays(1)
            ? interval
            : throw ToolException.Usage("--interval must be 100ms to 1d");
    }

    private void Print(Invocation invocation, CairnStore store)
    {
        SizeHistogram? sizes = invocation.Get(_sizes) ? store.GetSizeHistogram(invocation.Console.Interruption) : null;
        StoreStatistics statistics = store.GetStatistics();
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            StatisticsReport.WriteJson(line.Writer, invocation.StorePath, statistics, invocation.Get(_partitions), sizes);
        }
        else
        {
            StatisticsReport.WriteText(invocation.Output, invocation.StorePath, statistics, invocation.Get(_partitions), sizes);
        }
    }
}
