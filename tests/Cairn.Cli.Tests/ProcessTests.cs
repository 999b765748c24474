using System.Text;
using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>The tool as shells and other programs use it.</summary>
public sealed class ProcessTests : IDisposable
{
    private readonly StoreDirectory _directory = new();

    private string StorePath => _directory.FilePath;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Exit_codes_reach_the_shell()
    {
        string notes = _directory["notes.txt"];
        File.WriteAllText(notes, "These are my notes.");

        Assert.Equal(ExitCode.Store, Run("get", "key").Code);
        Assert.Equal(ExitCode.Done, Run("create", "--capacity", "2MiB").Code);
        Assert.Equal(ExitCode.No, Run("get", "key").Code);
        Assert.Equal(ExitCode.Usage, Run("get").Code);
        Assert.Equal(ExitCode.Damaged, ToolProcess.Run([], "get", "key", "--store", notes).Code);
        Assert.Equal(ExitCode.File, Run("import", "--file", _directory["missing"]).Code);
    }

    [Fact]
    public void Binary_value_passes_through_pipes_unchanged()
    {
        byte[] value = TestBytes.Of(300_000);
        Create("8MiB");

        ToolRun set = ToolProcess.Run(value, "set", "--store", StorePath, "cover", "-");
        ToolRun get = Run("get", "cover");

        Assert.Equal((0, ""), (set.Code, set.Error));
        Assert.Equal(value, get.Bytes);
    }

    [Fact]
    public void Words_that_are_not_utf8_are_refused()
    {
        Create("2MiB");
        string set = $"{string.Join(' ', ToolProcess.Command)} set --store {StorePath}";

        using ToolProcess process = ToolProcess.StartProgram("bash", "-c", $"{set} $'\\xff' value; echo $?; {set} key $'\\xff'; echo $?");
        ToolRun run = process.Finish();

        Assert.Equal("2\n2\n", run.Output);
        Assert.Contains("the key has bytes that are not UTF-8", run.Error, StringComparison.Ordinal);
        Assert.Contains("the value has bytes that are not UTF-8", run.Error, StringComparison.Ordinal);
        Assert.Empty(Run("keys").Lines);
    }

    [Fact]
    public void Names_of_files_that_are_not_utf8_are_refused()
    {
        Create("2MiB");
        string tool = string.Join(' ', ToolProcess.Command);
        string name = $"{_directory.Path}/$'a\\xff'";

        using ToolProcess process = ToolProcess.StartProgram(
            "bash", "-c", $"{tool} create --store {name}; echo $?; {tool} export --store {StorePath} --file {name}; echo $?");
        ToolRun run = process.Finish();

        Assert.Equal("2\n2\n", run.Output);
        Assert.Contains("has bytes that are not UTF-8; give the file another name", run.Error, StringComparison.Ordinal);
        Assert.Equal([StorePath], Directory.GetFiles(_directory.Path));
    }

    [Fact]
    public void Commands_that_share_a_redirection_write_one_after_the_other()
    {
        Create("2MiB");
        Run("set", "a", "first");
        Run("set", "b", "second");
        string get = $"{string.Join(' ', ToolProcess.Command)} get --store {StorePath}";
        string file = _directory["both"];

        using ToolProcess process = ToolProcess.StartProgram("bash", "-c", $"({get} a; {get} b) > {file}");
        process.Finish();

        Assert.Equal("firstsecond", File.ReadAllText(file));
    }

    [Fact]
    public void Two_processes_import_at_once_and_nothing_is_lost()
    {
        const int Entries = 3000;
        Create("8MiB");
        using ToolProcess first = ToolProcess.Start("import", "--store", StorePath);
        using ToolProcess second = ToolProcess.Start("import", "--store", StorePath);

        // Both processes have the store open until their input ends.
        foreach ((ToolProcess process, string name) in (IEnumerable<(ToolProcess, string)>)[(first, "first"), (second, "second")])
        {
            for (int i = 0; i < Entries; i++)
            {
                process.Input.Write($$"""{"key":"{{name}}:{{i}}","value":"{{i}}"}""" + "\n");
            }
        }

        ToolRun[] runs = [first.Finish(), second.Finish()];

        Assert.All(runs, run => Assert.Equal((0, "imported 3,000 entries\n", ""), (run.Code, run.Output, run.Error)));
        ToolRun export = Run("export");
        Assert.Equal(
            2 * Entries,
            export.JsonLines.Select(line => line.GetProperty("key").GetString()).Distinct(StringComparer.Ordinal).Count());
        Assert.All(export.JsonLines, line => Assert.EndsWith($":{line.GetProperty("value").GetString()}", line.GetProperty("key").GetString(), StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(ToolProcess.Interrupt, ExitCode.Interrupted)]
    [InlineData(ToolProcess.Terminate, ExitCode.Terminated)]
    public void Import_that_waits_for_input_ends_with_a_signal_and_keeps_what_it_has(int signal, int code)
    {
        Create("2MiB");
        using ToolProcess process = ToolProcess.Start("import", "--skip-errors", "--store", StorePath);
        process.Input.Write("{\"key\":\"a\",\"value\":\"1\"}\nnonsense\n");
        process.Input.Flush();

        // When the tool reports the line after the entry, the entry is stored and the signal handlers are installed.
        Assert.Contains("line 2: not JSON", process.ReadErrorLine(), StringComparison.Ordinal);
        process.Signal(signal);
        (int exitCode, string error) = process.WaitForExit();

        Assert.Equal((code, "cairn: interrupted: 1 entries were imported and stay\n"), (exitCode, error));
        Assert.Equal(["a"], Run("keys").Lines);
    }

    [Fact]
    public void Interrupted_export_is_valid_as_far_as_it_goes_and_says_so()
    {
        const int Entries = 30_000;
        Fill("64MiB", Entries);
        using ToolProcess process = ToolProcess.Start("export", "--store", StorePath);
        string first = process.Output.ReadLine()!;

        process.Signal(ToolProcess.Interrupt);
        string[] lines = [first, .. process.Output.ReadToEnd().Split('\n')];
        (int code, string error) = process.WaitForExit();

        Assert.Equal("", lines[^1]);
        Assert.All(lines[..^1], line => JsonDocument.Parse(line));
        int written = lines.Length - 1;

        // The tool can be faster than the signal. In that case the export is complete.
        Assert.Contains(
            (code, error),
            written == Entries
                ? new[] { (0, ""), (ExitCode.Interrupted, Interrupted(written)) }
                : [(ExitCode.Interrupted, Interrupted(written))]);
    }

    [Fact]
    public void Export_whose_reader_goes_away_ends_in_silence()
    {
        Fill("64MiB", 30_000);
        using ToolProcess process = ToolProcess.Start("export", "--store", StorePath);
        process.Output.ReadLine();

        process.Output.Close();

        Assert.Equal((ExitCode.OutputClosed, ""), process.WaitForExit());
    }

    [Fact]
    public void Commands_other_than_top_do_not_load_what_draws_its_picture()
    {
        Fill("64MiB", 30_000);
        using ToolProcess process = ToolProcess.Start("export", "--store", StorePath);

        // The tool is in the middle of its work, because no further output is read.
        process.Output.ReadLine();
        string mapped = File.ReadAllText($"/proc/{process.Id}/maps");

        Assert.Contains("/Cairn.Cli.dll", mapped, StringComparison.Ordinal);
        Assert.DoesNotContain("/Spectre.Console.dll", mapped, StringComparison.Ordinal);
    }

    [Fact]
    public void Full_disk_behind_standard_output_is_an_error()
    {
        Create("2MiB");
        Run("set", "key", "value");

        using ToolProcess process = ToolProcess.StartProgram(
            "bash", "-c", $"{string.Join(' ', ToolProcess.Command)} get --store {StorePath} key > /dev/full");
        ToolRun run = process.Finish();

        Assert.Equal(ExitCode.File, run.Code);
        Assert.StartsWith("cairn: Standard output could not be written: No space left", run.Error, StringComparison.Ordinal);
    }

    [RequiresToolFact("script")]
    public void On_a_terminal_a_value_ends_with_a_line_feed()
    {
        Create("2MiB");
        Run("set", "key", "value");

        ToolRun run = RunOnTerminal("", $"get --store {StorePath} key");

        Assert.Equal((0, "value\r\n"), (run.Code, run.Output));
    }

    [RequiresToolFact("script")]
    public void On_a_terminal_top_shows_its_picture_until_q()
    {
        Create("2MiB");

        ToolRun run = RunOnTerminal("q", $"top --store {StorePath}");

        Assert.Equal(0, run.Code);
        Assert.Contains("hit ratio", run.Output, StringComparison.Ordinal);
        Assert.Contains("\e[?1049l", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Bash_completes_with_the_script()
    {
        string cairn = _directory["cairn"];
        File.WriteAllText(cairn, $"#!/bin/sh\nexec {string.Join(' ', ToolProcess.Command)} \"$@\"\n");
        string script =
            $$"""
            set -e
            chmod +x {{cairn}}
            source <({{cairn}} completion bash)
            complete -p cairn >&2
            COMP_LINE='{{cairn}} get --out' COMP_WORDS=('{{cairn}}' get --out) COMP_CWORD=2
            COMP_POINT=${#COMP_LINE}
            _cairn_complete
            echo "${COMPREPLY[@]}"
            """;

        using ToolProcess process = ToolProcess.StartProgram("bash", "-c", script);
        ToolRun run = process.Finish();

        Assert.Equal("--output\n", run.Output);
        Assert.Contains("-F _cairn_complete cairn", run.Error, StringComparison.Ordinal);
    }

    private static string Interrupted(int written) => FormattableString.Invariant(
        $"cairn: interrupted: {written:N0} entries were written, each a complete line, but not all\n");

    private static ToolRun RunOnTerminal(string input, string arguments)
    {
        using ToolProcess process = ToolProcess.StartProgram(
            "script", "--quiet", "--return", "--command", $"{string.Join(' ', ToolProcess.Command)} {arguments}", "/dev/null");
        return process.Finish(Encoding.UTF8.GetBytes(input));
    }

    private ToolRun Run(params string[] args) => ToolProcess.Run([], [.. args, "--store", StorePath]);

    private void Create(string capacity) => Assert.Equal(0, Run("create", "--capacity", capacity).Code);

    // More data than pipes and buffers hold: an export cannot end before a reader reads it.
    private void Fill(string capacity, int entries)
    {
        Create(capacity);
        using CairnStore store = CairnStore.Open(_directory.Options);
        byte[] value = Encoding.ASCII.GetBytes(new string('v', 500));
        for (int i = 0; i < entries; i++)
        {
            store.DefaultCollection.Set($"key:{i}", value);
        }
    }
}
