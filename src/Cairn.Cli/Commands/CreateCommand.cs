using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

internal sealed class CreateCommand : ToolCommand
{
    private readonly ValueOption<long> _capacity;

    private readonly ValueOption<long> _maxCapacity = ValueOptions.Size(
        "--max-capacity", "Size to which the file can grow before entries are evicted. Default: the file does not grow.");

    private readonly ValueOption<long> _averageEntry = ValueOptions.Size(
        "--average-entry",
        string.Create(CultureInfo.InvariantCulture, $"Expected size of key and value with about 24 bytes of header; sizes the index. Default {new StoreOptions { Path = "-" }.AverageEntryBytes}."));

    public CreateCommand(SharedOptions shared)
        : base("create", "Creates a new, empty store.")
    {
        _capacity = shared.Capacity;
        Add(_capacity);
        Add(_maxCapacity);
        Add(_averageEntry);
    }

    public override string Details =>
        "The file takes its whole size from the disk at once, so the space cannot run out later. Only its owner can read it. An existing file is an error and stays unchanged.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn create --store books.cairn", "With the default size."),
        new("cairn create --store books.cairn --capacity 64MiB --max-capacity 1GiB", "Grows as it fills."),
        new("cairn create --store pages.cairn --capacity 4GiB --average-entry 20KiB", "For large values: a smaller index and more room."),
    ];

    public override string JsonShape => """{"store", "fileBytes", "maxCapacityBytes", "maxValueBytes", "partitions", "indexSlots"}.""";

    public override int Run(Invocation invocation)
    {
        long capacity = invocation.Get(_capacity) ?? SharedOptions.DefaultCapacityBytes;
        long? most = invocation.Get(_maxCapacity);
        long? average = invocation.Get(_averageEntry);
        RequireSizes(capacity, most, average);
        string path = invocation.StorePath;
        var options = new StoreOptions
        {
            Path = path,
            OpenMode = StoreOpenMode.CreateNew,
            CapacityBytes = capacity,
            MaxCapacityBytes = most ?? 0,
            TimeProvider = invocation.Console.Clock,
        };
        using CairnStore store = invocation.Open(average is { } bytes ? options with { AverageEntryBytes = (int)bytes } : options);
        Report(invocation, path, store);
        return ExitCode.Done;
    }

    /// <summary>Checks the sizes of a store before any file is touched.</summary>
    /// <exception cref="ToolException">A size is out of range.</exception>
    public static void RequireSizes(long? capacity, long? maxCapacity, long? averageEntry)
    {
        RequireCapacity("--capacity", capacity);
        RequireCapacity("--max-capacity", maxCapacity);
        if (maxCapacity < capacity)
        {
            throw ToolException.Usage(
                $"--max-capacity must be at least the capacity, which is {Figures.Bytes(capacity.Value)}; it is {Figures.Bytes(maxCapacity.Value)}");
        }

        if (averageEntry is < StoreLimits.MinAverageEntryBytes or > StoreLimits.MaxAverageEntryBytes)
        {
            throw ToolException.Usage(
                $"--average-entry must be {StoreLimits.MinAverageEntryBytes} B to {Figures.Bytes(StoreLimits.MaxAverageEntryBytes)}");
        }
    }

    /// <summary>Checks a capacity before any file is touched.</summary>
    /// <exception cref="ToolException">The capacity is out of the range of stores.</exception>
    public static void RequireCapacity(string option, long? capacity)
    {
        if (capacity is < StoreLimits.MinCapacityBytes or > StoreLimits.MaxCapacityBytes)
        {
            throw ToolException.Usage(
                $"{option} must be {Figures.Bytes(StoreLimits.MinCapacityBytes)} to {Figures.Bytes(StoreLimits.MaxCapacityBytes)}, not {Figures.Bytes(capacity.Value)}");
        }
    }

    private static void Report(Invocation invocation, string path, CairnStore store)
    {
        StoreStatistics statistics = store.GetStatistics();
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteString("store"u8, path);
            line.Writer.WriteNumber("fileBytes"u8, statistics.FileBytes);
            line.Writer.WriteNumber("maxCapacityBytes"u8, statistics.MaxCapacityBytes);
            line.Writer.WriteNumber("maxValueBytes"u8, store.MaxValueBytes);
            line.Writer.WriteNumber("partitions"u8, store.PartitionCount);
            line.Writer.WriteNumber("indexSlots"u8, statistics.IndexSlots);
            return;
        }

        invocation.Output.WriteLine(
            $"created {path}: {Figures.Bytes(statistics.FileBytes)}{StatisticsReport.Growth(statistics)}, for {Figures.Count(statistics.IndexSlots)} entries, values up to {Figures.Bytes(store.MaxValueBytes)}");
    }
}
