namespace Cairn.Cli.Commands;

internal sealed class RestoreCommand : ToolCommand
{
    private const int CapacityStep = 1 << 20;

    private readonly Argument<string> _file = new("BACKUP")
    {
        Description = "The backup. For a store whose file was lost: its snapshot or a file of its log; the command then reads all of them.",
    };

    private readonly ValueOption<long> _capacity = ValueOptions.Size(
        "--capacity", $"Size of the new store. Default: {Figures.Bytes(SharedOptions.DefaultCapacityBytes)}, or twice the size of the backup if that is more.");

    private readonly ValueOption<long> _maxCapacity = ValueOptions.Size("--max-capacity", "Size to which the new store can grow. Default: the file does not grow.");

    private readonly ValueOption<long> _averageEntry = ValueOptions.Size(
        "--average-entry", "Entry size for the new index. Default: that of 'cairn create'.");

    private readonly Flag _salvage = new("--salvage", "Leave out damaged and missing parts and list them, instead of stopping with an error.");

    public RestoreCommand()
        : base("restore", "Creates a new store from a backup.")
    {
        Add(_file);
        Add(_capacity);
        Add(_maxCapacity);
        Add(_averageEntry);
        Add(_salvage);
    }

    public override string Details =>
        "No store or log of that name may exist. The store gets its name when it is complete and on disk, so Ctrl-C leaves no store. Expired entries are left out.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn restore --store books.cairn /backup/books.backup", "Creates the store again."),
        new("cairn restore --store new.cairn lost.cairn.snapshot", "Restores the snapshot and the log of a lost store."),
        new("cairn restore --salvage --store new.cairn lost.cairn.snapshot", "Restores the readable parts if they are damaged."),
    ];

    public override string JsonShape => """{"store", "backup", "entries", "bytes", "leftOut", "durationMs"}.""";

    public override int Run(Invocation invocation)
    {
        string path = invocation.Get(_file)!;
        long? capacity = invocation.Get(_capacity);
        long? most = invocation.Get(_maxCapacity);
        long? average = invocation.Get(_averageEntry);
        CreateCommand.RequireSizes(capacity, most, average);
        var options = new StoreOptions { Path = invocation.StorePath, TimeProvider = invocation.Console.Clock };
        options = options with
        {
            CapacityBytes = capacity ?? DefaultCapacity(path),
            MaxCapacityBytes = most ?? 0,
            AverageEntryBytes = (int?)average ?? options.AverageEntryBytes,
        };

        RestoreReport report;
        using (var progress = new StoreProgressLine(invocation.Console))
        {
            report = BackupCommand.OnBackup(path, () => invocation.Get(_salvage)
                ? StoreMaintenance.Salvage(path, options, progress, invocation.Console.Interruption)
                : StoreMaintenance.Restore(path, options, progress, invocation.Console.Interruption));
        }

        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteString("store"u8, options.Path);
            line.Writer.WriteString("backup"u8, path);
            line.Writer.WriteNumber("entries"u8, report.Entries);
            line.Writer.WriteNumber("bytes"u8, report.Bytes);
            line.Writer.WriteStartArray("leftOut"u8);
            foreach (string text in report.LeftOut)
            {
                line.Writer.WriteStringValue(text);
            }

            line.Writer.WriteEndArray();
            line.Writer.WriteNumber("durationMs"u8, (long)report.Duration.TotalMilliseconds);
        }
        else
        {
            invocation.Output.WriteLine(
                $"restored {Figures.Entries(report.Entries)} to {options.Path} ({Figures.Bytes(report.Bytes)}) in {Figures.Time(report.Duration)}");
            foreach (string text in report.LeftOut)
            {
                invocation.Output.WriteLine($"left out: {text}");
            }
        }

        return ExitCode.Done;
    }

    private static long DefaultCapacity(string backupPath)
    {
        long bytes = File.Exists(backupPath) ? new FileInfo(backupPath).Length : 0;
        long wanted = (2 * bytes) + CapacityStep - ((2 * bytes) % CapacityStep);
        return Math.Clamp(wanted, SharedOptions.DefaultCapacityBytes, StoreLimits.MaxCapacityBytes);
    }
}
