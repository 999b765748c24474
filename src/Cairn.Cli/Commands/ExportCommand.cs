using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class ExportCommand : ToolCommand
{
    private readonly Option<string?> _file = new("--file")
    {
        HelpName = "FILE",
        Description = "Write to this file, which is replaced when the export is complete. Default: standard output.",
    };

    private readonly FilterOptions _filter = new();
    private readonly SharedOptions _shared;

    public ExportCommand(SharedOptions shared)
        : base("export", "Writes the entries as JSON Lines, which 'cairn import' reads.")
    {
        _shared = shared;
        Add(_file);
        _filter.AddTo(this);
        Add(shared.Collection);
    }

    public override string Details =>
        "Works while other processes use the store, and does not change it: no entry counts as used. An entry that exists during the whole export is written exactly once. Hashes, which the server's hash commands write, are left out and counted. After Ctrl-C the file is unchanged; on standard output every line is complete, but entries are missing.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn export --store books.cairn > books.jsonl", "Writes everything."),
        new("cairn export --store books.cairn --file books.jsonl", "The same; the file is complete or does not exist."),
        new("cairn export --store books.cairn | gzip > books.jsonl.gz", "Compressed."),
        new("cairn export --store old.cairn | cairn import --store new.cairn --capacity 1GiB", "Into a larger store."),
    ];

    public override string JsonShape =>
        """A last object: {"entries", "valueBytes", "file"?, "hashesLeftOut"?, "complete": true}, on standard error if the entries go to standard output. An entry is a line {"collection"?, "key" or "keyBase64", "flags"?, "expires"?, "slidingMs"?, "slidingLimit"?, "value" or "valueBase64"}.""";

    public override string MeaningOfNo => "the store has no such collection";

    public override int Run(Invocation invocation)
    {
        KeyFilter? filter = _filter.Read(invocation);
        using CairnStore store = invocation.OpenExisting();
        CairnCollection? collection = invocation.FindCollection(store);
        if (collection is null)
        {
            invocation.Tell($"the store has no collection '{invocation.CollectionName}'");
            return ExitCode.No;
        }

        CairnCollection? only = invocation.IsGiven(_shared.Collection) ? collection : null;
        string? path = invocation.Get(_file);
        if (path is null or "-")
        {
            WriteTo(invocation, store, only, filter, invocation.Output, path: null, commit: null);
            return ExitCode.Done;
        }

        using ReplacedFile file = ReplacedFile.Create(path);
        WriteTo(invocation, store, only, filter, new ToolOutput(file.Stream), path, file.Commit);
        return ExitCode.Done;
    }

    private static void WriteTo(
        Invocation invocation, CairnStore store, CairnCollection? only, KeyFilter? filter, ToolOutput output, string? path, Action? commit)
    {
        long expected = filter is null ? store.GetStatistics().Totals.Entries : 0;
        using var progress = new ProgressLine(invocation.Console, "Exporting", "entries");
        EntryExport export = null!;
        export = new EntryExport(store, output, invocation.Console.Interruption)
        {
            Filter = filter,
            Progress = () => progress.Report(export.Entries, export.Entries, only is null ? expected : 0),
        };
        try
        {
            if (only is null)
            {
                export.WriteAll();
            }
            else
            {
                export.Write(only);
            }

            output.Flush();
        }
        catch (OperationCanceledException interruption)
        {
            progress.Dispose();
            output.Flush();
            string left = path is null
                ? $"{Figures.Count(export.Entries)} entries were written, each a complete line, but not all"
                : $"'{path}' was not changed";
            throw new ToolException(invocation.Console.InterruptedCode, $"interrupted: {left}", interruption);
        }

        progress.Dispose();
        commit?.Invoke();
        Report(invocation, export, path);
    }

    private static void Report(Invocation invocation, EntryExport export, string? path)
    {
        if (export.Hashes > 0)
        {
            invocation.Tell($"left out {Figures.Count(export.Hashes)} hashes, which the server's hash commands wrote: only values are exported");
        }

        if (invocation.IsJson)
        {
            // The entries may have gone to standard output, so the summary then goes to standard error.
            var summary = path is null ? new ToolOutput(new TextWriterStream(invocation.Console.Error)) : invocation.Output;
            using (var line = new JsonLine(summary))
            {
                line.Writer.WriteNumber("entries"u8, export.Entries);
                line.Writer.WriteNumber("valueBytes"u8, export.ValueBytes);
                if (path is not null)
                {
                    line.Writer.WriteString("file"u8, path);
                }

                if (export.Hashes > 0)
                {
                    line.Writer.WriteNumber("hashesLeftOut"u8, export.Hashes);
                }

                line.Writer.WriteBoolean("complete"u8, true);
            }

            summary.Flush();
        }
        else if (path is not null || (invocation.Console.IsErrorTerminal && !invocation.Console.IsOutputTerminal))
        {
            string text = $"exported {Figures.Entries(export.Entries)} with {Figures.Bytes(export.ValueBytes)} of values";
            if (path is null)
            {
                invocation.Tell(text);
            }
            else
            {
                invocation.Output.WriteLine($"{text} to {path}");
            }
        }
    }
}
