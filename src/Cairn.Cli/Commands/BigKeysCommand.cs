using System.Globalization;
using Cairn.Cli.Arguments;
using Cairn.Cli.Entries;
using Cairn.Cli.Output;
using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

internal sealed class BigKeysCommand : ToolCommand
{
    private const int DefaultCount = 20;
    private const int MostKeys = 10_000;

    private readonly ValueOption<int> _count = ValueOptions.Count(
        "--count", string.Create(CultureInfo.InvariantCulture, $"How many keys. Default {DefaultCount}."), 1, MostKeys);

    public BigKeysCommand()
        : base("bigkeys", "Lists the keys with the longest values, and the distribution of value lengths.")
    {
        Add(_count);
    }

    public override string Details => "Covers all collections. Reads the whole index and does not block other processes.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn bigkeys --store books.cairn", "The 20 longest."),
        new("cairn bigkeys --store books.cairn --count 3 --json", "Three, for programs."),
    ];

    public override string JsonShape =>
        """{"biggest": [{"key" or "keyBase64", "collection"?, "valueBytes"}], "sizes": {"entries", "valueBytes", "bins": [{"fromBytes", "toBytes", "entries", "valueBytes"}]}}.""";

    public override int Run(Invocation invocation)
    {
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
