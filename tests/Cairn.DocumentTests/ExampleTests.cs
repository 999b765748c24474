using System.Diagnostics;

namespace Cairn.DocumentTests;

/// <summary>The examples in samples/ print what their README files show, when they run with the commands of those files.</summary>
public sealed class ExampleTests
{
    [Fact]
    public async Task Console_programs_share_a_cache()
    {
        using var directory = new TestDirectory();
        var store = directory["prices.cairn"];

        var produced = await RunAsync("dune 9.50\n", "dotnet", Built("SharedCache/Producer", "Producer"), store);
        var first = await RunAsync("", "dotnet", Built("SharedCache/Consumer", "Consumer"), store, "dune", "emma");
        var second = await RunAsync("", "dotnet", Built("SharedCache/Consumer", "Consumer"), store, "dune", "emma");

        Assert.Equal(PrintedBy("SharedCache"), produced + first + second);
    }

    [Fact]
    public async Task Console_program_says_what_is_wrong_with_a_file_that_is_no_store()
    {
        using var directory = new TestDirectory();
        await File.WriteAllTextAsync(directory["prices.cairn"], "not a store");

        var run = await TryRunAsync("", null, "dotnet", Built("SharedCache/Consumer", "Consumer"), directory["prices.cairn"], "dune");

        Assert.Equal(1, run.ExitCode);
        Assert.Contains(directory["prices.cairn"], run.Errors, StringComparison.Ordinal);
    }

    [RequiresToolFact("memcached", "python3")]
    public async Task Client_of_memcached_is_moved_to_cairn_unchanged()
    {
        // Uses the tool of the last build. The launcher of the clone would build another one.
        using var directory = new TestDirectory();
        var tool = directory["cairn"];
        await File.WriteAllTextAsync(tool, $"#!/bin/sh\nexec dotnet '{RepositoryFile.At("src/Cairn.Cli/bin/Release/net10.0/Cairn.Cli.dll")}' \"$@\"\n");
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(tool, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        }

        var output = await RunScriptAsync("ReplaceMemcached", ("CAIRN", tool), FreePorts.Take(3));

        Assert.Equal(PrintedBy("ReplaceMemcached"), output);
    }

    [RequiresToolFact("redis-server", "redis-cli")]
    public async Task Shops_share_a_redis_cluster()
    {
        var output = await RunScriptAsync("RedisCluster", ("SHOP", Built("RedisCluster", "RedisCluster")), FreePorts.Take(3));

        Assert.Equal(PrintedBy("RedisCluster"), output);
    }

    [Theory]
    [InlineData("process")]
    [InlineData("file")]
    public async Task Shop_without_a_cluster_is_the_same_program(string kind)
    {
        using var directory = new TestDirectory();
        string[] arguments = kind == "file" ? [kind, directory["shop.cairn"]] : [kind];

        var run = await TryRunAsync("rename 42 Dune\nfind 42\nfind 42\n", directory.Path, "dotnet", [Built("RedisCluster", "RedisCluster"), .. arguments]);

        Assert.Equal("renamed\nDune (from the database)\nDune (from the cache)\n", run.Output);
    }

    private static string Built(string project, string assembly) =>
        RepositoryFile.At("samples", project, "bin", "Release", "net10.0", assembly + ".dll");

    // Returns the output that the README of an example shows.
    private static string PrintedBy(string example)
    {
        var readme = File.ReadAllText(RepositoryFile.At("samples", example, "README.md"));
        var start = readme.IndexOf("```text\n", StringComparison.Ordinal) + "```text\n".Length;
        return readme[start..readme.IndexOf("```", start, StringComparison.Ordinal)];
    }

    private static async Task<string> RunScriptAsync(string example, (string Name, string Value) setting, int port)
    {
        var start = new ProcessStartInfo("bash", [RepositoryFile.At("samples", example, "run"), port.ToString()]);
        start.Environment[setting.Name] = setting.Value;
        var run = await ProgramRun.FinishAsync(start);
        return run.ExitCode == 0 ? run.Output : throw new InvalidOperationException($"{run.ExitCode}: {run.Everything}");
    }

    private static async Task<string> RunAsync(string input, string program, params IEnumerable<string> arguments)
    {
        var run = await TryRunAsync(input, null, program, arguments);
        return run.ExitCode == 0 ? run.Output : throw new InvalidOperationException($"{run.ExitCode}: {run.Errors}");
    }

    private static Task<ProgramRun> TryRunAsync(
        string input, string? directory, string program, params IEnumerable<string> arguments) =>
        ProgramRun.FinishAsync(new ProcessStartInfo(program, arguments) { WorkingDirectory = directory ?? "" }, input);
}
