namespace Cairn.Cli.Commands;

internal sealed class VerifyCommand : ToolCommand
{
    private readonly ValueOption<int> _maxFindings = ValueOptions.Count(
        "--max-findings",
        string.Create(CultureInfo.InvariantCulture, $"List at most this many findings; all are counted. Default {new VerifyOptions().MaxFindings}."),
        0,
        1_000_000);

    public VerifyCommand()
        : base("verify", "Reads every structure and entry of a store, even a damaged one, and reports its findings.")
    {
        Add(_maxFindings);
    }

    public override string Details =>
        "Changes nothing, and can run while other processes use the store. Damage is a state that no use of the store and no death of a process causes. A leftover comes from a process that died, or that did not get a lock in time. It is harmless, and the next process repairs it. With damage the exit code is 4.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn verify --store books.cairn", "Reads everything."),
        new("cairn verify --store books.cairn --json --max-findings 0", "Prints only counts, for programs."),
    ];

    public override string JsonShape =>
        """{"store", "sound": true or false, "fileBytes", "inUse", "openings", "partitions", "segments", "collections", "indexSlots", "entries", "expiredEntries", "clearedEntries", "leases", "damagedEntries", "deadEntries", "bytesRead", "durationMs", "damage", "leftovers", "notes", "findings": [{"severity": "damage", "leftover" or "note", "area", "offset", "text"}]}.""";

    public override int Run(Invocation invocation)
    {
        string path = invocation.StorePath;
        var options = new VerifyOptions { TimeProvider = invocation.Console.Clock };
        if (invocation.Get(_maxFindings) is { } most)
        {
            options = options with { MaxFindings = most };
        }

        VerifyReport report;
        using (var progress = new StoreProgressLine(invocation.Console))
        {
            report = Invocation.OnStore(path, () => StoreMaintenance.Verify(path, options, progress, invocation.Console.Interruption));
        }

        if (invocation.IsJson)
        {
            WriteJson(invocation.Output, path, report);
        }
        else
        {
            WriteText(invocation.Output, path, report);
        }

        return report.IsSound ? ExitCode.Done : ExitCode.Damaged;
    }

    private static void WriteText(ToolOutput output, string path, VerifyReport report)
    {
        var table = new TextTable("", "");
        table.Add("  file", $"{Figures.Bytes(report.FileBytes)}, {Figures.Bytes(report.BytesRead)} read in {Figures.Time(report.Duration)}");
        if (report.Partitions > 0)
        {
            table.Add("  use", report.WasInUse ? $"in use meanwhile, {Figures.Count(report.Openings)} openings at the end" : "not in use");
            table.Add(
                "  structure",
                $"{Figures.Count(report.Partitions)} partitions, {Figures.Count(report.Segments)} segments, {Figures.Count(report.Collections)} collections, " +
                $"{Figures.Count(report.IndexSlots)} index slots");
            table.Add(
                "  entries",
                $"{Figures.Count(report.Entries)}; still there: {Figures.Count(report.ExpiredEntries)} expired, {Figures.Count(report.ClearedEntries)} cleared, " +
                $"{Figures.Count(report.DeadEntries)} replaced or removed; {Figures.Count(report.Leases)} leases");
        }

        table.Add(
            "  found",
            $"{Figures.Count(report.DamageCount)} damages, {Figures.Count(report.LeftoverCount)} leftovers, {Figures.Count(report.NoteCount)} notes");
        output.WriteLine($"{path}: {(report.IsSound ? "sound" : "DAMAGED")}");
        table.WriteTo(output);
        foreach (VerifyFinding finding in report.Findings)
        {
            output.WriteLine($"{NameOf(finding.Severity)} at {finding.Offset.ToString(CultureInfo.InvariantCulture)} ({NameOf(finding.Area)}): {finding.Text}");
        }

        long unlisted = report.DamageCount + report.LeftoverCount + report.NoteCount - report.Findings.Count;
        if (unlisted > 0)
        {
            output.WriteLine($"and {Figures.Count(unlisted)} more (--max-findings)");
        }
    }

    private static void WriteJson(ToolOutput output, string path, VerifyReport report)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteString("store"u8, path);
        line.Writer.WriteBoolean("sound"u8, report.IsSound);
        line.Writer.WriteNumber("fileBytes"u8, report.FileBytes);
        line.Writer.WriteBoolean("inUse"u8, report.WasInUse);
        line.Writer.WriteNumber("openings"u8, report.Openings);
        line.Writer.WriteNumber("partitions"u8, report.Partitions);
        line.Writer.WriteNumber("segments"u8, report.Segments);
        line.Writer.WriteNumber("collections"u8, report.Collections);
        line.Writer.WriteNumber("indexSlots"u8, report.IndexSlots);
        line.Writer.WriteNumber("entries"u8, report.Entries);
        line.Writer.WriteNumber("expiredEntries"u8, report.ExpiredEntries);
        line.Writer.WriteNumber("clearedEntries"u8, report.ClearedEntries);
        line.Writer.WriteNumber("leases"u8, report.Leases);
        line.Writer.WriteNumber("damagedEntries"u8, report.DamagedEntries);
        line.Writer.WriteNumber("deadEntries"u8, report.DeadEntries);
        line.Writer.WriteNumber("bytesRead"u8, report.BytesRead);
        line.Writer.WriteNumber("durationMs"u8, (long)report.Duration.TotalMilliseconds);
        line.Writer.WriteNumber("damage"u8, report.DamageCount);
        line.Writer.WriteNumber("leftovers"u8, report.LeftoverCount);
        line.Writer.WriteNumber("notes"u8, report.NoteCount);
        line.Writer.WriteStartArray("findings"u8);
        foreach (VerifyFinding finding in report.Findings)
        {
            line.Writer.WriteStartObject();
            line.Writer.WriteString("severity"u8, NameOf(finding.Severity));
            line.Writer.WriteString("area"u8, NameOf(finding.Area));
            line.Writer.WriteNumber("offset"u8, finding.Offset);
            line.Writer.WriteString("text"u8, finding.Text);
            line.Writer.WriteEndObject();
        }

        line.Writer.WriteEndArray();
    }

    private static string NameOf<T>(T value)
        where T : struct, Enum => value.ToString().ToLowerInvariant();
}
