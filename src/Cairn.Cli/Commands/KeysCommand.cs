using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class KeysCommand : ToolCommand
{
    private readonly FilterOptions _filter = new();
    private readonly Flag _long = new("--long", "Also print size, flags and expiration.");
    private readonly Flag _null = new("--null", "End each key with a zero byte instead of a line feed, for xargs -0.");
    private readonly ValueOption<int> _limit = ValueOptions.Count("--limit", "Stop after this many keys.", 1, int.MaxValue);

    public KeysCommand(SharedOptions shared)
        : base("keys", "Lists the keys of a collection.")
    {
        _filter.AddTo(this);
        Add(_long);
        Add(_limit);
        Add(_null);
        Add(shared.Collection);
    }

    public override string Details =>
        "One key per line, in no order. On a terminal, and with --long, unprintable bytes are escaped (\\n, \\xFF, \\u{200B}, \\\\); elsewhere keys are written byte by byte. A key that exists during the whole listing is listed exactly once.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn keys --store books.cairn", "Lists all."),
        new("cairn keys --store books.cairn --prefix book: --limit 10 --long", "Ten keys with their metadata."),
        new("cairn keys --store books.cairn --match 'book:*:title' --json", "For programs."),
    ];

    public override string JsonShape =>
        """One line a key: {"key" or "keyBase64", "collection"?, "valueBytes", "version", "flags"?, "expires"?, "slidingMs"?, "slidingLimit"?}.""";

    public override string MeaningOfNo => "the store has no such collection";

    public override int Run(Invocation invocation)
    {
        KeyFilter? filter = _filter.Read(invocation);
        int left = invocation.Get(_limit) ?? int.MaxValue;
        if (invocation.Get(_null) && (invocation.Get(_long) || invocation.IsJson))
        {
            throw ToolException.Usage("--null goes with keys alone, not with --long or --json");
        }

        using CairnStore store = invocation.OpenExisting();
        if (invocation.FindCollection(store) is not { } collection)
        {
            invocation.Tell($"the store has no collection '{invocation.CollectionName}'");
            return ExitCode.No;
        }

        var cursor = default(ScanCursor);
        bool isMore = true;
        while (isMore && left > 0)
        {
            isMore = collection.Scan(ref cursor, filter, (key, info) =>
            {
                if (left > 0)
                {
                    left--;
                    Write(invocation, collection.Name, key, info);
                }
            });
        }

        return ExitCode.Done;
    }

    private void Write(Invocation invocation, string collection, ReadOnlySpan<byte> key, EntryInfo info)
    {
        ToolOutput output = invocation.Output;
        if (invocation.IsJson)
        {
            using var line = new JsonLine(output);
            EntryJson.WriteKey(line.Writer, key);
            EntryJson.WriteCollection(line.Writer, collection);
            EntryJson.WriteFacts(line.Writer, info);
            EntryJson.WriteProperties(line.Writer, info);
        }
        else if (invocation.Get(_long))
        {
            string size = info.ValueBytes.ToString(CultureInfo.InvariantCulture);
            string expires = info.ExpiresAt is { } moment ? Figures.Moment(moment) : "-";
            string flags = string.Create(CultureInfo.InvariantCulture, $"0x{info.Flags:X}");
            output.WriteLine($"{size,10}  {flags,10}  {expires,-24}  {KeyText.Escape(key)}");
        }
        else if (invocation.Console.IsOutputTerminal && !invocation.Get(_null))
        {
            output.WriteLine(KeyText.Escape(key));
        }
        else
        {
            output.Write(key);
            output.Write(invocation.Get(_null) ? "\0"u8 : "\n"u8);
        }
    }
}
