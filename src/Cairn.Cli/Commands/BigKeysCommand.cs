using Cairn.Cli.Clients;
using Cairn.Cli.Entries;
using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

internal sealed class BigKeysCommand : ToolCommand
{
    private const int DefaultCount = 20;
    private const int MostKeys = 10_000;

    private readonly ServerArguments _server = new();
    private readonly SharedOptions _shared;
    private readonly ValueOption<int> _count = ValueOptions.Count(
        "--count", string.Create(CultureInfo.InvariantCulture, $"How many keys. Default {DefaultCount}."), 1, MostKeys);

    public BigKeysCommand(SharedOptions shared)
        : base("bigkeys", "Lists the keys with the longest values of a store, and the distribution of value lengths; or the keys that take most memory of a server.")
    {
        _shared = shared;
        _server.AddTo(this);
        Add(_count);
    }

    public override string UsageWords => "[ADDRESS | --store FILE]";

    public override string Details =>
        "Covers all collections. Reads the whole index and does not block other processes. With ADDRESS it lists the keys of a server that speaks RESP by SCAN, and asks for the memory that each takes by MEMORY USAGE. The second keys of entries with plain values (cairn-head:) are not listed: their memory counts for the entry.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn bigkeys --store books.cairn", "The 20 longest."),
        new("cairn bigkeys redis://cache.example:6379", "The 20 that take most memory of a server."),
        new("cairn bigkeys --store books.cairn --count 3 --json", "Three, for programs."),
    ];

    public override string JsonShape =>
        """{"biggest": [{"key" or "keyBase64", "collection"?, "valueBytes"}], "sizes": {"entries", "valueBytes", "bins": [{"fromBytes", "toBytes", "entries", "valueBytes"}]}}. Of a server: {"biggest": [{"key" or "keyBase64", "memoryBytes"}], "keys", "headKeys"?, "memoryBytes"}.""";

    public override int Run(Invocation invocation)
    {
        if (_server.Find(invocation, _shared.Store) is { } target)
        {
            using ServerLink link = ServerLink.Open(target);
            WriteServerKeys(invocation, ServerKeys.Measure(link, invocation.Get(_count) ?? DefaultCount, invocation.Console.Interruption));
            return ExitCode.Done;
        }

        using CairnStore store = invocation.OpenExisting();
        CancellationToken interruption = invocation.Console.Interruption;
        IReadOnlyList<EntrySize> biggest = store.GetBiggestKeys(invocation.Get(_count) ?? DefaultCount, interruption);
        SizeHistogram sizes = store.GetSizeHistogram(interruption);
        if (invocation.IsJson)
        {
            WriteJson(invocation.Output, biggest, sizes);
            return ExitCode.Done;
        }

        var table = new TextTable(">value", "key", "collection");
        foreach (EntrySize entry in biggest)
        {
            table.Add(Figures.Bytes(entry.ValueBytes), KeyText.Escape(entry.Key.Span), KeyText.Escape(System.Text.Encoding.UTF8.GetBytes(entry.Collection)));
        }

        table.WriteTo(invocation.Output);
        invocation.Output.WriteLine();
        SizesReport.WriteText(invocation.Output, sizes);
        return ExitCode.Done;
    }

    private static void WriteServerKeys(Invocation invocation, ServerKeys keys)
    {
        if (!invocation.IsJson)
        {
            var table = new TextTable(">memory", "key");
            foreach ((byte[] key, long bytes) in keys.Biggest)
            {
                table.Add(Figures.Bytes(bytes), KeyText.Escape(key));
            }

            table.WriteTo(invocation.Output);
            invocation.Output.WriteLine();
            string heads = keys.HeadCount > 0 ? $" and {Figures.Count(keys.HeadCount)} second keys of entries ({ServerEntry.HeadPrefix})" : "";
            invocation.Output.WriteLine($"{Figures.Count(keys.Count)} keys{heads} take {Figures.Bytes(keys.MemoryBytes)}");
            return;
        }

        using var line = new JsonLine(invocation.Output);
        line.Writer.WriteStartArray("biggest"u8);
        foreach ((byte[] key, long bytes) in keys.Biggest)
        {
            line.Writer.WriteStartObject();
            EntryJson.WriteKey(line.Writer, key);
            line.Writer.WriteNumber("memoryBytes"u8, bytes);
            line.Writer.WriteEndObject();
        }

        line.Writer.WriteEndArray();
        line.Writer.WriteNumber("keys"u8, keys.Count);
        if (keys.HeadCount > 0)
        {
            line.Writer.WriteNumber("headKeys"u8, keys.HeadCount);
        }

        line.Writer.WriteNumber("memoryBytes"u8, keys.MemoryBytes);
    }

    private static void WriteJson(ToolOutput output, IReadOnlyList<EntrySize> biggest, SizeHistogram sizes)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteStartArray("biggest"u8);
        foreach (EntrySize entry in biggest)
        {
            line.Writer.WriteStartObject();
            EntryJson.WriteKey(line.Writer, entry.Key.Span);
            EntryJson.WriteCollection(line.Writer, entry.Collection);
            line.Writer.WriteNumber("valueBytes"u8, entry.ValueBytes);
            line.Writer.WriteEndObject();
        }

        line.Writer.WriteEndArray();
        SizesReport.WriteJson(line.Writer, sizes);
    }
}
