using System.Diagnostics;

namespace Cairn.ConventionTests;

/// <summary>./cairn, on a copy of the sources, as a newcomer meets it.</summary>
public sealed class LauncherTests : IDisposable
{
    // What ./cairn itself exits with when there is no tool to run.
    private const int LauncherFailed = 125;

    private readonly string _clone = Directory.CreateTempSubdirectory("cairn-launcher-").FullName;

    public LauncherTests()
    {
        string[] needed = ["cairn", "global.json", "Directory.Build.props", "Directory.Packages.props", ".editorconfig"];
        foreach (var file in Repository.Files)
        {
            var relative = Repository.Relative(file);
            if (needed.Contains(relative, StringComparer.Ordinal) || relative.StartsWith("src/", StringComparison.Ordinal))
            {
                var copy = Path.Combine(_clone, relative);
                Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
                File.Copy(file, copy);
            }
        }
    }

    public void Dispose() => Directory.Delete(_clone, recursive: true);

    // One test, because each build takes seconds.
    [Fact]
    public async Task First_runs_at_once_build_one_tool_that_serves_until_sources_change()
    {
        // From elsewhere, through a link, several at once, on sources that were never built.
        var link = Path.Combine(_clone, "link-to-cairn");
        File.CreateSymbolicLink(link, Path.Combine(_clone, "cairn"));
        var firstRuns = await Task.WhenAll(Enumerable.Range(0, 3).Select(_ => RunAsync(link, "--version")));
        Assert.All(firstRuns, run => Assert.Equal((0, ""), (run.ExitCode, run.Errors)));
        Assert.All(firstRuns, run => Assert.Equal(firstRuns[0].Output, run.Output));
        var tool = Assert.Single(BuiltTools());

        // The tool's own exit code comes through, and nothing is built again.
        var mistaken = await RunAsync(link, "no-such-command");
        Assert.NotEqual(0, mistaken.ExitCode);
        Assert.NotEqual(LauncherFailed, mistaken.ExitCode);
        Assert.Equal([tool], BuiltTools());

        // A change that does not compile is an error that names the place, never a run of the old tool.
        var broken = Path.Combine(_clone, "src", "Cairn", "Broken.cs");
        await File.WriteAllTextAsync(broken, "this is not C#");
        var failed = await RunAsync(link, "--version");
        Assert.Equal((LauncherFailed, ""), (failed.ExitCode, failed.Output));
        Assert.Contains("Broken.cs(1", failed.Errors, StringComparison.Ordinal);

        // Undone, the tool of before is right again.
        File.Delete(broken);
        Assert.Equal(firstRuns[0], await RunAsync(link, "--version"));
        Assert.Equal([tool], BuiltTools());
    }

    [Fact]
    public async Task Without_an_sdk_the_error_says_what_to_install()
    {
        var programs = Directory.CreateDirectory(Path.Combine(_clone, "programs")).FullName;
        foreach (var program in (string[])["bash", "readlink", "find", "cksum", "sort", "tr", "mkdir", "flock", "cut", "paste"])
        {
            File.CreateSymbolicLink(Path.Combine(programs, program), FindOnPath(program));
        }

        var run = await RunAsync(Path.Combine(_clone, "cairn"), "--version", path: programs);

        Assert.Equal(LauncherFailed, run.ExitCode);
        Assert.Contains(".NET SDK 10.0", run.Errors, StringComparison.Ordinal);
    }

    private string[] BuiltTools() =>
        [.. Directory.GetDirectories(Path.Combine(_clone, "artifacts", "tool")).Where(d => !Path.GetFileName(d).StartsWith('.'))];

    private static string FindOnPath(string program) =>
        Environment.GetEnvironmentVariable("PATH")!.Split(Path.PathSeparator)
            .Select(directory => Path.Combine(directory, program))
            .First(File.Exists);

    private static async Task<Run> RunAsync(string command, string argument, string? path = null)
    {
        var start = new ProcessStartInfo("bash", [command, argument])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = Path.GetTempPath(),
        };

        // A test run's own settings would steer the build inside.
        foreach (var name in start.Environment.Keys.Where(IsOfTheTestRun).ToList())
        {
            start.Environment.Remove(name);
        }

        start.Environment["PATH"] = path ?? start.Environment["PATH"];
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        return new Run(process.ExitCode, await output, await errors);
    }

    private static bool IsOfTheTestRun(string name) =>
        name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)
        || name.StartsWith("VSTEST", StringComparison.OrdinalIgnoreCase)
        || name is "DOTNET_HOST_PATH" or "CI";

    private sealed record Run(int ExitCode, string Output, string Errors);
}
