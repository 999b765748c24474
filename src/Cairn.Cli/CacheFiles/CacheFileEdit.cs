using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;

namespace Cairn.Cli.CacheFiles;

// Edits a file by hand while applications write it. An editor would save the whole file as it was at its start, and undo all later writes.
// So the user edits a copy, and the differences become one change in a writer's turn. Holding the turn during the edit would block every
// application that writes.
internal static class CacheFileEdit
{
    public static int Edit(CacheFileRequest request)
    {
        request.RequireWords(0, "edit takes nothing");
        request.RequireFile();
        string copy = Path.Combine(Path.GetTempPath(), $"cairn-edit-{Path.GetRandomFileName()}.json");
        using FileEngine file = request.OpenExisting();
        EntryTable? before = Read(request.Path, out _);
        WriteCopy(copy, before, request.Path);
        RunEditor(request.Invocation, copy);
        if (Read(copy, out FormatProblem? problem) is not { } after)
        {
            throw new ToolException(
                ExitCode.Damaged,
                $"the saved text is not valid at line {Figures.Count(problem!.Line)}, column {Figures.Count(problem.Column)}: {problem.Text}. " +
                $"Nothing is changed; your text is in '{copy}'");
        }

        EntryChange[] changes = Difference(before ?? new EntryTable(), after);
        if (before is null || changes.Length > 0)
        {
            file.Change(changes, isClearing: before is null); // The change replaces a file that was not valid.
        }

        File.Delete(copy);
        Report(request.Invocation, changes.Length);
        return ExitCode.Done;
    }

    // Returns null if the file is not valid. If it was cut short, returns its whole entries.
    private static EntryTable? Read(string path, out FormatProblem? problem)
    {
        byte[] text = File.ReadAllBytes(path);
        var table = new EntryTable();
        var reader = new FileReader(text);
        problem = null;
        if (text.AsSpan().Trim(" \t\r\n"u8).IsEmpty || reader.ReadFile(table) != TextOutcome.Invalid)
        {
            return table;
        }

        problem = reader.Problem;
        return null;
    }

    // Writes each key once, without the entries that later changes replaced. A file that is not valid is copied unchanged.
    private static void WriteCopy(string copy, EntryTable? table, string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        using var stream = new FileStream(copy, options);
        if (table is null)
        {
            stream.Write(File.ReadAllBytes(path));
            return;
        }

        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        FileWriter.Write(buffer, table.InOrder(nowTicks: 0));
        stream.Write(buffer.WrittenSpan);
    }

    private static void RunEditor(Invocation invocation, string copy)
    {
        string editor = invocation.Console.GetEnvironmentVariable("VISUAL") ?? invocation.Console.GetEnvironmentVariable("EDITOR") ?? "vi";

        // As in other tools, the variable may contain arguments, so a shell splits it.
        var start = new ProcessStartInfo("/bin/sh") { UseShellExecute = false };
        start.ArgumentList.Add("-c");
        start.ArgumentList.Add($"{editor} \"$1\"");
        start.ArgumentList.Add("sh");
        start.ArgumentList.Add(copy);
        using Process process = Process.Start(start)!;
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            File.Delete(copy);
            throw new ToolException(ExitCode.File, $"the editor '{editor}' ended with code {process.ExitCode}, so nothing is changed");
        }
    }

    private static EntryChange[] Difference(EntryTable before, EntryTable after)
    {
        var changes = new List<EntryChange>();
        foreach (Entry entry in before.InOrder(nowTicks: 0))
        {
            if (after.Find(entry.Key)?.Value is null)
            {
                changes.Add(CacheFileRequest.Removal(entry.Key));
            }
        }

        changes.AddRange(after.InOrder(nowTicks: 0).Where(entry => !entry.SaysTheSameAs(before.Find(entry.Key))).Select(entry => new EntryChange(entry)));
        return [.. changes];
    }

    private static void Report(Invocation invocation, int changed)
    {
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteNumber("changed"u8, changed);
            return;
        }

        invocation.Output.WriteLine(changed == 0 ? "nothing was changed" : $"{Figures.Entries(changed)} changed");
    }
}
