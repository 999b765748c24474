using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

// Reads the output of export line by line from any source. A line is stored as one entry, or reported with its number and its mistake. It
// is never stored in part.
internal sealed class ImportCommand : ToolCommand
{
    /// <summary>The maximum length of a line in bytes: more than the longest entry with every byte escaped.</summary>
    private const int LongestLineBytes = 512 << 20;

    /// <summary>The maximum number of bad lines that --json lists. The others are only counted.</summary>
    private const int MostListed = 100;

    private readonly Option<string?> _file = new("--file") { HelpName = "FILE", Description = "Read this file. Default: standard input." };
    private readonly Flag _skipErrors = new("--skip-errors", "Report invalid lines and continue, instead of stopping at the first.");
    private readonly Flag _dryRun = new("--dry-run", "Only check the lines; the store is neither opened nor created.");
    private readonly SharedOptions _shared;

    public ImportCommand(SharedOptions shared)
        : base("import", "Stores entries from JSON Lines. Creates the store if it does not exist.")
    {
        _shared = shared;
        Add(_file);
        Add(_skipErrors);
        Add(_dryRun);
        Add(shared.Collection);
        Add(shared.Capacity);
    }

    public override string Details =>
        "Reads the output of 'cairn export' and 'cairn dump'. An entry replaces an earlier value of its key. Entries that have expired are skipped. A sliding expiration starts again. With --collection, entries without a collection go there. If the store is full, new entries evict earlier ones.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn import --store books.cairn < books.jsonl", "Stores every entry."),
        new("cairn import --store books.cairn --file books.jsonl --skip-errors", "Stores the valid lines."),
        new("""echo '{"key": "book:42", "value": "Dune"}' | cairn import --store books.cairn""", "The minimum that a line must have."),
        new("cairn import --dry-run --file books.jsonl", "Checks a file."),
    ];

    public override string JsonShape =>
        """{"lines", "imported", "expired", "bad", "notStored", "evicted", "complete", "errors": [{"line", "reason"}]}: at most 100 errors are listed.""";

    public override string MeaningOfNo => "bad lines were skipped (--skip-errors), or entries could not be stored";

    public override int Run(Invocation invocation)
    {
        CreateCommand.RequireCapacity("--capacity", invocation.Get(_shared.Capacity));
        string? path = invocation.Get(_file);
        using Stream input = Open(invocation, path is "-" ? null : path);
        using CairnStore? store = invocation.Get(_dryRun) ? null : invocation.OpenOrCreate();
        using var run = new ImportRun(invocation, store, new LineReader(input, LongestLineBytes), input.CanSeek ? input.Length : invocation.Console.InputBytes);
        return run.Execute(invocation.Get(_skipErrors));
    }

    private static Stream Open(Invocation invocation, string? path)
    {
        if (path is null)
        {
            if (invocation.Console.IsInputTerminal)
            {
                invocation.Tell("reading entries from the terminal, one a line; Ctrl-D ends them");
            }

            return invocation.Console.OpenInput();
        }

        try
        {
            return new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"'{path}' cannot be read: {failure.Message}", failure);
        }
    }

    private sealed class ImportRun(Invocation invocation, CairnStore? store, LineReader lines, long inputBytes) : IDisposable
    {
        private readonly EntryLine _entry = new();
        private readonly List<(long Line, string Reason)> _errors = [];
        private readonly long _evictedBefore = store?.GetStatistics().Totals.Evictions ?? 0;
        private readonly ProgressLine _progress = new(invocation.Console, "Importing", "entries");
        private readonly CairnCollection? _default = store is null ? null : invocation.OpenCollection(store);
        private long _imported;
        private long _expired;
        private long _bad;
        private long _notStored;

        public int Execute(bool skipsErrors)
        {
            bool isComplete;
            try
            {
                isComplete = ReadAll(skipsErrors);
            }
            catch (OperationCanceledException interruption)
            {
                _progress.Dispose();
                WriteSummary(isComplete: false);
                throw new ToolException(
                    invocation.Console.InterruptedCode,
                    $"interrupted: {Figures.Count(_imported)} entries were imported and stay",
                    interruption);
            }

            _progress.Dispose();
            WriteSummary(isComplete);
            return !isComplete ? ExitCode.File
                : _bad > 0 || _notStored > 0 ? ExitCode.No
                : ExitCode.Done;
        }

        public void Dispose() => _progress.Dispose();

        private bool ReadAll(bool skipsErrors)
        {
            CancellationToken interruption = invocation.Console.Interruption;
            while (lines.TryRead(out ReadOnlySpan<byte> line, out bool isTooLong))
            {
                interruption.ThrowIfCancellationRequested();
                if (isTooLong || line.ContainsAnyExcept(" \t\r"u8))
                {
                    string? wrong = isTooLong ? "longer than any entry" : _entry.TryRead(line) ?? Store();
                    if (wrong is not null)
                    {
                        Report(wrong, skipsErrors);
                        if (!skipsErrors)
                        {
                            return false;
                        }
                    }
                }

                _progress.Report(_imported, lines.BytesRead, inputBytes);
            }

            return true;
        }

        /// <summary>Stores the entry of the line. Returns the reason if the store cannot take it.</summary>
        private string? Store()
        {
            int most = store?.MaxValueBytes ?? StoreLimits.MaxValueBytes;
            if (_entry.Value.Length > most)
            {
                return $"the value has {Figures.Count(_entry.Value.Length)} bytes, more than the {Figures.Count(most)} that this store takes";
            }

            if (_entry.Expires <= invocation.Console.Clock.GetUtcNow() || _entry.SlidingLimit <= invocation.Console.Clock.GetUtcNow())
            {
                _expired++;
                return null;
            }

            if (store is not null)
            {
                CairnCollection collection = _entry.Collection is not { } name ? _default!
                    : name.Length == 0 ? store.DefaultCollection
                    : store.Collection(name);
                if (!collection.Set(_entry.Key, _entry.Value, _entry.Expiration, _entry.Flags))
                {
                    _notStored++;
                    return null;
                }
            }

            _imported++;
            return null;
        }

        private void Report(string reason, bool skipsErrors)
        {
            _bad++;
            if (_errors.Count < MostListed)
            {
                _errors.Add((lines.Number, reason));
            }

            _progress.Dispose();
            string rest = skipsErrors ? "" : $"; stopped there, {Figures.Count(_imported)} entries before it were imported (--skip-errors goes on)";
            invocation.Tell(string.Create(CultureInfo.InvariantCulture, $"line {lines.Number}: {reason}{rest}"));
        }

        private void WriteSummary(bool isComplete)
        {
            long evicted = store is null ? 0 : store.GetStatistics().Totals.Evictions - _evictedBefore;
            if (!invocation.IsJson)
            {
                if (isComplete)
                {
                    WriteText(evicted);
                }

                return;
            }

            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteNumber("lines"u8, lines.Number);
            line.Writer.WriteNumber("imported"u8, _imported);
            line.Writer.WriteNumber("expired"u8, _expired);
            line.Writer.WriteNumber("bad"u8, _bad);
            line.Writer.WriteNumber("notStored"u8, _notStored);
            line.Writer.WriteNumber("evicted"u8, evicted);
            line.Writer.WriteBoolean("complete"u8, isComplete);
            line.Writer.WriteStartArray("errors"u8);
            foreach ((long number, string reason) in _errors)
            {
                line.Writer.WriteStartObject();
                line.Writer.WriteNumber("line"u8, number);
                line.Writer.WriteString("reason"u8, reason);
                line.Writer.WriteEndObject();
            }

            line.Writer.WriteEndArray();
        }

        private void WriteText(long evicted)
        {
            string done = store is null ? "would import" : "imported";
            string text = $"{done} {Figures.Entries(_imported)}";
            foreach ((long count, string what) in (ReadOnlySpan<(long, string)>)[
                (_expired, "expired meanwhile"), (_bad, "bad lines skipped"), (_notStored, "could not be stored")])
            {
                text += count > 0 ? $", {Figures.Count(count)} {what}" : "";
            }

            invocation.Output.WriteLine(text);
            if (evicted > 0)
            {
                invocation.Warn($"the store is full: {Figures.Count(evicted)} entries were evicted meanwhile");
            }
        }
    }
}
