using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class DumpCommand : ToolCommand
{
    private readonly FilterOptions _filter = new();
    private readonly Flag _withoutValues = new("--no-values", "Leave the values out.");
    private readonly SharedOptions _shared;

    public DumpCommand(SharedOptions shared)
        : base("dump", "Prints every entry with all its metadata, as JSON Lines.")
    {
        _shared = shared;
        _filter.AddTo(this);
        Add(_withoutValues);
        Add(shared.Collection);
    }

    public override string Details =>
        "For reading; 'cairn export' is for backups. Both can be imported. Does not change the store: no entry counts as used.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn dump --store books.cairn", "Prints every entry of every collection."),
        new("cairn dump --store books.cairn --prefix book: | jq -r .key", "Works with programs that read JSON."),
    ];

    public override string JsonShape =>
        """The same as without --json: one line per entry, {"collection"?, "key" or "keyBase64", "valueBytes", "version", "flags"?, "expires"?, "slidingMs"?, "slidingLimit"?, "value" or "valueBase64"}.""";

    public override string MeaningOfNo => "the store has no such collection";

    public override int Run(Invocation invocation)
    {
        KeyFilter? filter = _filter.Read(invocation);
        using CairnStore store = invocation.OpenExisting();
        var export = new EntryExport(store, invocation.Output, invocation.Console.Interruption)
        {
            WithFacts = true,
            WithValues = !invocation.Get(_withoutValues),
            Filter = filter,
        };
        if (!invocation.IsGiven(_shared.Collection))
        {
            export.WriteAll();
        }
        else if (invocation.FindCollection(store) is { } collection)
        {
            export.Write(collection);
        }
        else
        {
            invocation.Tell($"the store has no collection '{invocation.CollectionName}'");
            return ExitCode.No;
        }

        return ExitCode.Done;
    }
}
