using System.Diagnostics;
using Cairn.Cli.Output;
using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;

namespace Cairn.Cli.CacheFiles;

// Editing by hand while applications write. An editor saves the file as it was when it was opened, with all that others wrote
// since undone; so a copy is edited, and what the user changed in it is made as one change, in a writer's turn. Holding the
// turn for as long as somebody edits would stop every application that writes.
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
                $"what you saved is not valid at line {Figures.Count(problem!.Line)}, column {Figures.Count(problem.Column)}: {problem.Text}. " +
                $"Nothing is changed; your text is in '{copy}'");
        }

        EntryChange[] changes = Difference(before ?? new EntryTable(), after);
        if (before is null || changes.Length > 0)
        {
            file.Change(changes, isClearing: before is null); // What was not valid is replaced by what is.
        }

        File.Delete(copy);
        Report(request.Invocation, changes.Length);
        return ExitCode.Done;
    }

    // Null if it is not valid. What was cut short counts as far as it is whole.
    private static EntryTable? Read(string path, out FormatProblem? problem)
    {
        byte[] text = File.ReadAllBytes(path);
        var table = new EntryTable();
        var reader = new FileReader(text);
        problem = null;
        if (text.AsSpan().Trim(" \t\r\n"u8).IsEmpty || reader.ReadFile(table) != ReadOutcome.Invalid)
        {
            return table;
        }

        problem = reader.Problem;
        return null;
    }

    // Without what changes left behind, so that the user sees each key once; what is not valid, as it is.
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

        // As other tools do: the variable may hold arguments too, so a shell takes it apart.
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
