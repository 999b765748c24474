namespace Cairn.Cli.Commands;

internal sealed class BackupCommand : ToolCommand
{
    private readonly Argument<string> _file = new("BACKUP") { Description = "The file to write. An existing file is replaced when the new one is complete." };

    private readonly Flag _onlyKept = new("--only-kept", "Leave out collections whose entries can be evicted.");

    public BackupCommand()
        : base("backup", "Copies a store into one file, even while other processes use it.")
    {
        Add(_file);
        Add(_onlyKept);
    }

    public override string Details =>
        "All collections with a log are copied as of one moment. Entries of other collections are copied as of different moments during the backup. The backup of an encrypted store is encrypted. Ctrl-C leaves an earlier backup unchanged.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn backup --store books.cairn /backup/books.backup", "Copies everything."),
        new("cairn backup --store books.cairn --only-kept books.backup", "Without what caches hold."),
    ];

    public override string JsonShape => """{"store", "backup", "entries", "changes", "bytes", "durationMs"}.""";

    public override int Run(Invocation invocation)
    {
        string path = invocation.Get(_file)!;
        using CairnStore store = invocation.OpenExisting();
        BackupReport report;
        using (var progress = new StoreProgressLine(invocation.Console))
        {
            report = OnBackup(path, () => store.Backup(
                path, new BackupOptions { OnlyKept = invocation.Get(_onlyKept) }, progress, invocation.Console.Interruption));
        }

        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteString("store"u8, invocation.StorePath);
            line.Writer.WriteString("backup"u8, path);
            line.Writer.WriteNumber("entries"u8, report.Entries);
            line.Writer.WriteNumber("changes"u8, report.Changes);
            line.Writer.WriteNumber("bytes"u8, report.Bytes);
            line.Writer.WriteNumber("durationMs"u8, (long)report.Duration.TotalMilliseconds);
        }
        else
        {
            invocation.Output.WriteLine(
                $"backed up {Figures.Entries(report.Entries)}, and {Figures.Count(report.Changes)} changes made meanwhile, to {path} " +
                $"({Figures.Bytes(report.Bytes)}) in {Figures.Time(report.Duration)}");
        }

        return ExitCode.Done;
    }

    /// <summary>Runs an operation on a backup's file. Turns exceptions of the framework into errors about the backup.</summary>
    public static T OnBackup<T>(string path, Func<T> work)
    {
        try
        {
            return work();
        }
        catch (FileNotFoundException missing)
        {
            throw new ToolException(ExitCode.Store, $"there is no backup '{path}'", missing);
        }
        catch (DirectoryNotFoundException missing)
        {
            throw new ToolException(ExitCode.Store, $"the directory of the backup '{path}' does not exist; create it first, or correct the path", missing);
        }
        catch (Exception denied) when (denied is UnauthorizedAccessException || (denied is IOException and not StoreException))
        {
            throw new ToolException(ExitCode.Store, denied.Message, denied);
        }
        catch (ArgumentException wrong)
        {
            throw Invocation.WrongOption(wrong);
        }
    }
}
