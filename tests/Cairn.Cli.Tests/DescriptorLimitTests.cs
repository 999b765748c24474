using System.Globalization;

namespace Cairn.Cli.Tests;

/// <summary>The message about a limit of open files that is too low names the required limit. The tests use child processes, because a limit
/// belongs to a process.</summary>
public sealed class DescriptorLimitTests : ToolTest
{
    // In some containers, root can raise a limit that was lowered.
    private static readonly Lazy<bool> MayRaise = new(() =>
    {
        using ToolProcess shell = ToolProcess.StartProgram("sh", "-c", "ulimit -n 64; ulimit -n 128");
        return shell.Finish().Code == 0;
    });

    [Theory]
    [InlineData(40, ExitCode.File)]
    [InlineData(52, ExitCode.File)]
    [InlineData(63, ExitCode.File)]
    [InlineData(64, ExitCode.Server)]
    [InlineData(80, ExitCode.Server)]
    [InlineData(128, ExitCode.Server)]
    [InlineData(200, ExitCode.Server)]
    [InlineData(512, ExitCode.Server)]
    public void Server_with_too_few_descriptors_says_how_many_it_needs_and_leaves_nothing(int limit, int code)
    {
        using ToolProcess process = Start(limit, "serve", "--store", StorePath, "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "127.0.0.1:0");

        ToolRun run = process.Finish();

        string error = run.Error.Split('\n').Last(line => line.StartsWith("cairn: ", StringComparison.Ordinal));
        Assert.Equal(code, run.Code);
        Assert.Contains($"may have {limit} files open", error, StringComparison.Ordinal);
        Assert.Contains("513", error, StringComparison.Ordinal);
        Assert.Contains("ulimit -n", error, StringComparison.Ordinal);
        Assert.Contains("LimitNOFILE=", error, StringComparison.Ordinal);
        Assert.DoesNotContain("Exception", run.Error, StringComparison.Ordinal);
        Assert.False(File.Exists(StorePath));
    }

    [Fact]
    public void Server_with_few_descriptors_accepts_as_many_connections_as_it_has_for_them()
    {
        using ToolProcess process = Start(
            300, "serve", "--store", StorePath, "--capacity", "8MiB", "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off");
        string line;
        do
        {
            line = process.ReadErrorLine();
        }
        while (line.Length > 0 && !line.Contains("too few for 10000 connections", StringComparison.Ordinal));

        Assert.Contains("at most 44 are accepted", line, StringComparison.Ordinal);
        while (line.Length > 0 && !line.Contains("Listening for memcached", StringComparison.Ordinal))
        {
            line = process.ReadErrorLine();
        }

        process.Signal(ToolProcess.Terminate);
        Assert.Equal(ExitCode.Done, process.WaitForExit().Code);
    }

    [Fact]
    public void Too_few_descriptors_are_reported_as_json_if_json_was_requested()
    {
        using ToolProcess process = Start(48, "stats", "--json");

        ToolRun run = process.Finish();

        using var error = System.Text.Json.JsonDocument.Parse(run.Error);
        Assert.Contains("48 files", error.RootElement.GetProperty("error").GetString(), StringComparison.Ordinal);
        Assert.Equal(run.Code, error.RootElement.GetProperty("exitCode").GetInt32());
    }

    [Theory]
    [InlineData("bench", "127.0.0.1:1")]
    [InlineData("open", "no.cairn")]
    [InlineData("top", "127.0.0.1:1")]
    public void Command_with_too_few_descriptors_says_how_many_it_needs(params string[] args)
    {
        using ToolProcess process = Start(64, args);

        ToolRun run = process.Finish();

        Assert.Equal(ExitCode.File, run.Code);
        Assert.StartsWith($"cairn: this process may have 64 files open, and 'cairn {args[0]}'", run.Error, StringComparison.Ordinal);
        Assert.Contains("ulimit -n", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Script_of_a_clone_reports_limits_as_json_if_json_was_requested()
    {
        using ToolProcess process = StartLimited(40, RepositoryFile.At("cairn"), "stats", "--json");

        ToolRun run = process.Finish();

        using var error = System.Text.Json.JsonDocument.Parse(run.Error);
        Assert.Contains("40 files", error.RootElement.GetProperty("error").GetString(), StringComparison.Ordinal);
        Assert.Equal(run.Code, error.RootElement.GetProperty("exitCode").GetInt32());
    }

    [Fact]
    public void Script_of_a_clone_reports_limits_that_are_too_small_for_the_runtime_itself()
    {
        string script = RepositoryFile.At("cairn");
        for (int limit = 20; limit < 64; limit += 11)
        {
            using ToolProcess process = StartLimited(limit, script, "serve");

            ToolRun run = process.Finish();

            Assert.Equal(ExitCode.File, run.Code);
            Assert.StartsWith(string.Create(CultureInfo.InvariantCulture, $"cairn: this process may have {limit} files open, and the tool needs at least 64"), run.Error, StringComparison.Ordinal);
        }
    }

    private static ToolProcess Start(int limit, params string[] args) =>
        StartLimited(limit, ["env", "--default-signal=INT,HUP", .. ToolProcess.Command, .. args]);

    private static ToolProcess StartLimited(int limit, params string[] command)
    {
        string[] confined = MayRaise.Value ? ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource", .. command] : command;
        return ToolProcess.StartProgram(
            "sh", ["-c", string.Create(CultureInfo.InvariantCulture, $"ulimit -n {limit} && exec \"$@\""), "sh", .. confined]);
    }
}
