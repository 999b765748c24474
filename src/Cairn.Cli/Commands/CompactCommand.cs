namespace Cairn.Cli.Commands;

internal sealed class CompactCommand : ToolCommand
{
    private readonly ValueOption<long> _capacity = ValueOptions.Size(
        "--capacity", "Size of the new file. Default: the smallest that holds all kept entries.");

    private readonly ValueOption<long> _maxCapacity = ValueOptions.Size(
        "--max-capacity", "Size to which the new file can grow. Default: that of the old file.");

    private readonly ValueOption<long> _averageEntry = ValueOptions.Size(
        "--average-entry", "Entry size for the new index. Default: the average of the store.");

    public CompactCommand()
        : base("compact", "Replaces a store that is not in use with a new file without gaps and damage.")
    {
        Add(_capacity);
        Add(_maxCapacity);
        Add(_averageEntry);
    }

    public override string Details =>
        "Keeps values, flags, expirations, collections and the order of eviction. Resets statistics. The old file stays unchanged until the new one is complete, even after Ctrl-C, so the disk needs room for both. Processes that open the store meanwhile wait.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn compact --store books.cairn", "As small as it can be."),
        new("cairn compact --store books.cairn --capacity 1GiB", "Into a larger file."),
    ];

    public override string JsonShape =>
        """{"store", "entriesKept", "entriesExpired", "entriesDamaged", "entriesEvicted", "bytesBefore", "bytesAfter", "maxCapacityBytes", "averageEntryBytes", "durationMs"}.""";

    public override int Run(Invocation invocation)
    {
        string path = invocation.StorePath;
        long? capacity = invocation.Get(_capacity);
        long? most = invocation.Get(_maxCapacity);
        long? average = invocation.Get(_averageEntry);
        CreateCommand.RequireSizes(capacity, most, average);
        var options = new CompactOptions
        {
            CapacityBytes = capacity,
            MaxCapacityBytes = most,
            AverageEntryBytes = (int?)average,
            TimeProvider = invocation.Console.Clock,
        };

        CompactReport report;
        using (var progress = new StoreProgressLine(invocation.Console))
        {
            report = Invocation.OnStore(path, () => StoreMaintenance.Compact(path, options, progress, invocation.Console.Interruption));
        }

        if (invocation.IsJson)
        {
            WriteJson(invocation.Output, path, report);
        }
        else
        {
            WriteText(invocation.Output, path, report);
        }

        return ExitCode.Done;
    }

    private static void WriteText(ToolOutput output, string path, CompactReport report)
    {
        output.WriteLine(
            $"compacted {path} from {Figures.Bytes(report.BytesBefore)} to {Figures.Bytes(report.BytesAfter)} in {Figures.Time(report.Duration)}");
        output.WriteLine(
            $"kept {Figures.Entries(report.EntriesKept)}; left out {Figures.Count(report.EntriesExpired)} expired, " +
            $"{Figures.Count(report.EntriesDamaged)} damaged, {Figures.Count(report.EntriesEvicted)} that did not fit");
    }

    private static void WriteJson(ToolOutput output, string path, CompactReport report)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteString("store"u8, path);
        line.Writer.WriteNumber("entriesKept"u8, report.EntriesKept);
        line.Writer.WriteNumber("entriesExpired"u8, report.EntriesExpired);
        line.Writer.WriteNumber("entriesDamaged"u8, report.EntriesDamaged);
        line.Writer.WriteNumber("entriesEvicted"u8, report.EntriesEvicted);
        line.Writer.WriteNumber("bytesBefore"u8, report.BytesBefore);
        line.Writer.WriteNumber("bytesAfter"u8, report.BytesAfter);
        line.Writer.WriteNumber("maxCapacityBytes"u8, report.MaxCapacityBytes);
        line.Writer.WriteNumber("averageEntryBytes"u8, report.AverageEntryBytes);
        line.Writer.WriteNumber("durationMs"u8, (long)report.Duration.TotalMilliseconds);
    }
}
