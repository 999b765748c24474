using System.CommandLine;
using Cairn.Cli.Arguments;
using Cairn.Cli.Formats;
using Cairn.Cli.Output;
using Cairn.Redis;

namespace Cairn.Cli.Commands;

internal sealed class SerializersCommand : ToolCommand
{
    private const int FewRecords = 50;
    private const int ManyRecords = 50_000;
    private const int MostRecords = 1_000_000;
    private const long TemporaryCapacityBytes = 512L << 20;
    private static readonly TimeSpan DefaultTime = TimeSpan.FromSeconds(5);

    private readonly Option<string?> _redis = new("--redis")
    {
        HelpName = "ADDRESS",
        Description = "A server of Redis' protocol, as HOST:PORT, with options after commas as in host:6379,password=…,ssl=true.",
    };

    private readonly ValueOption<int> _records = ValueOptions.Count("-n", $"Compare with this many records as well as with {FewRecords}. Default 50000.", 1, MostRecords);
    private readonly ValueOption<TimeSpan> _duration = ValueOptions.Time("--duration", "How long to measure for each number of records. Default 5s.");
    private readonly Option<string?> _chart = new("--chart")
    {
        HelpName = "FILE",
        Description = "Also draw the times as an SVG picture into this file.",
    };

    private readonly SharedOptions _shared;

    public SerializersCommand(SharedOptions shared)
        : base("serializers", "Compares formats: how long they take, how long values are, what is allocated.")
    {
        _shared = shared;
        Add(_redis);
        Add(_records);
        Add(_duration);
        Add(_chart);
    }

    public override string UsageWords => "[--redis ADDRESS | --store FILE]";

    public override string Details =>
        "Writes a list of records of three texts and an identifier under one key, with a life of five minutes, reads it back, and checks it: as JSON, XML, binary XML and protobuf, each with Brotli and without. The formats take turns; what is shown is the median of the rounds. Without a server and a store it uses a temporary store file. Everything it wrote is removed at the end.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn serializers", "Compares over a temporary store file."),
        new("cairn serializers --redis 127.0.0.1:6379", "Compares over a server."),
        new("cairn serializers --store books.cairn -n 1000", "Compares over a store, with 50 and with 1,000 records."),
        new("cairn serializers --chart formats.svg", "Draws a picture, too."),
        new("cairn serializers --json > formats.json", "For programs."),
    ];

    public override string JsonShape =>
        """{"transport", "comparisons": [{"records", "rounds", "formats": [{"format": "json", "xml", "binary" or "protobuf", "compressed", "bytes", "serializeUs", "writeUs", "readUs", "deserializeUs", "totalUs", "serializeAllocatedBytes", "deserializeAllocatedBytes"}]}]}.""";

    public override int Run(Invocation invocation)
    {
        DescriptorLimit.RequireFor(256, "'cairn serializers'");
        if (invocation.IsGiven(_redis) && invocation.IsGiven(_shared.Store))
        {
            throw ToolException.Usage("--redis and --store exclude each other");
        }

        int records = invocation.Get(_records) ?? ManyRecords;
        TimeSpan time = invocation.Get(_duration) ?? DefaultTime;
        string? temporary = null;
        List<FormatComparison> comparisons = [];
        string name;
        try
        {
            using IFormatTransport transport = Open(invocation, ref temporary);
            name = transport.Name;
            foreach (int count in records == FewRecords ? [FewRecords] : new[] { FewRecords, records })
            {
                FormatComparison comparison = FormatComparison.Run(count, transport, time, invocation.Console);
                comparisons.Add(comparison);
                if (!invocation.IsJson)
                {
                    FormatReport.WriteText(invocation.Output, comparison, name);
                    invocation.Output.Flush();
                }
            }
        }
        finally
        {
            if (temporary is not null)
            {
                Directory.Delete(temporary, recursive: true);
            }
        }

        if (invocation.Get(_chart) is { } chart)
        {
            using ReplacedFile file = ReplacedFile.Create(chart);
            var picture = new ToolOutput(file.Stream);
            FormatChart.Write(picture, comparisons, name);
            picture.Flush();
            file.Commit();
        }

        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            FormatReport.WriteJson(line.Writer, comparisons, name);
        }

        return ExitCode.Done;
    }

    private IFormatTransport Open(Invocation invocation, ref string? temporary)
    {
        if (invocation.Get(_redis) is { } address)
        {
            try
            {
                return new RedisTransport(RedisClient.Create(address), $"the server {address.Split(',')[0]}", invocation.Console.Interruption);
            }
            catch (Exception wrong) when (wrong is FormatException or ArgumentException)
            {
                throw ToolException.Usage(wrong.Message);
            }
        }

        if (invocation.FindStorePath() is { } path)
        {
            return new StoreTransport(invocation.OpenExisting(), $"the store '{path}'");
        }

        temporary = Directory.CreateTempSubdirectory("cairn-serializers-").FullName;
        return new StoreTransport(
            invocation.Open(new StoreOptions
            {
                Path = Path.Combine(temporary, "formats.cairn"),
                CapacityBytes = TemporaryCapacityBytes,
                AverageEntryBytes = 1 << 20,
                FlushOnClose = false,
            }),
            "a temporary store");
    }
}
