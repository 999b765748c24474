using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;

namespace Cairn.Cli.CacheFiles;

/// <summary>Commands for a whole readable cache file: verify, convert.</summary>
internal static class CacheFileCheck
{
    public static int Verify(CacheFileRequest request)
    {
        request.RequireWords(0, "verify takes nothing");
        request.RequireFile();
        byte[] text = File.ReadAllBytes(request.Path);
        var table = new EntryTable();
        var reader = new FileReader(text);
        bool isEmpty = text.AsSpan().Trim(" \t\r\n"u8).IsEmpty;
        TextOutcome outcome = isEmpty ? TextOutcome.Complete : reader.ReadFile(table);
        FormatProblem? problem = outcome == TextOutcome.Invalid ? reader.Problem : null;
        int entries = table.InOrder(request.Invocation.Console.Clock.GetUtcNow().UtcTicks).Length;
        if (request.Invocation.IsJson)
        {
            WriteJson(request.Invocation.Output, text.Length, entries, reader.IsOldFormat, outcome, problem);
        }
        else
        {
            string state = outcome switch
            {
                TextOutcome.Complete when reader.IsOldFormat => "sound, of Net.DistributedFileStoreCache; the next change converts it",
                TextOutcome.Complete => "sound",
                TextOutcome.Torn => "cut short; the complete entries count, and the next change repairs the file",
                _ => $"NOT VALID at line {Figures.Count(problem!.Line)}, column {Figures.Count(problem.Column)}: {problem.Text}",
            };
            request.Invocation.Output.WriteLine($"{request.Path}: {state}");
            if (problem is null)
            {
                request.Invocation.Output.WriteLine($"  {Figures.Entries(entries)}, {Figures.Bytes(text.Length)}");
            }
        }

        return problem is null ? ExitCode.Done : ExitCode.Damaged;
    }

    public static int Convert(CacheFileRequest request)
    {
        request.RequireWords(0, "convert takes nothing");
        using FileEngine file = request.OpenExisting();
        file.Compact();
        int entries = file.AllEntries().Length;
        long bytes = new FileInfo(request.Path).Length;
        if (request.Invocation.IsJson)
        {
            using var line = new JsonLine(request.Invocation.Output);
            line.Writer.WriteNumber("entries"u8, entries);
            line.Writer.WriteNumber("fileBytes"u8, bytes);
        }
        else
        {
            request.Invocation.Output.WriteLine($"{request.Path}: {Figures.Entries(entries)}, {Figures.Bytes(bytes)}");
        }

        return ExitCode.Done;
    }

    private static void WriteJson(ToolOutput output, long bytes, int entries, bool isOldFormat, TextOutcome outcome, FormatProblem? problem)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteBoolean("sound"u8, problem is null);
        line.Writer.WriteNumber("entries"u8, entries);
        line.Writer.WriteNumber("fileBytes"u8, bytes);
        line.Writer.WriteBoolean("oldFormat"u8, isOldFormat);
        line.Writer.WriteBoolean("torn"u8, outcome == TextOutcome.Torn);
        if (problem is not null)
        {
            line.Writer.WriteNumber("line"u8, problem.Line);
            line.Writer.WriteNumber("column"u8, problem.Column);
            line.Writer.WriteString("problem"u8, problem.Text);
        }
    }
}
