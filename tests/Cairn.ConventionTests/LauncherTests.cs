using System.Xml.Linq;

namespace Cairn.ConventionTests;

/// <summary>./cairn, on sources that were never built: a small tool in the place of the real one, which takes a minute to compile.</summary>
public sealed class LauncherTests : IDisposable
{
    // The exit code of ./cairn itself when there is no tool to run.
    private const int LauncherFailed = 125;

    // bin/CONFIGURATION/FRAMEWORK/
    private static readonly string Configuration = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory).Split(Path.DirectorySeparatorChar)[^2];

    private readonly string _clone = Directory.CreateTempSubdirectory("cairn-launcher-").FullName;

    public LauncherTests()
    {
        foreach (var file in (string[])["cairn", "global.json", "Directory.Build.props", "Directory.Packages.props", ".editorconfig", "src/Directory.Build.props"])
        {
            Write(file, File.ReadAllText(Path.Combine(Repository.Root, file)));
        }

        Write("src/Cairn.Cli/Program.cs", """
            if (args is ["--version"])
            {
                System.Console.WriteLine("a tool");
                return 0;
            }

            return 2;
            """);

        // Of the real one, without what it consists of.
        var project = XDocument.Load(Path.Combine(Repository.Root, "src", "Cairn.Cli", "Cairn.Cli.csproj"));
        project.Root!.Elements("ItemGroup").Remove();
        Write("src/Cairn.Cli/Cairn.Cli.csproj", project.ToString());
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
        Assert.All(firstRuns, run => Assert.Equal((0, "a tool\n"), (run.ExitCode, run.Output)));
        // Without a terminal, too, one line says why nothing happens yet.
        Assert.Single(firstRuns, run => run.Errors == "Building Cairn (first run), which takes a minute or two.\n");
        Assert.All(firstRuns, run => Assert.Matches("^((Building Cairn .first run., which takes a minute or two|Waiting for another run, which builds Cairn)[.]\n)?$", run.Errors));
        var tool = Assert.Single(BuiltTools());

        // The tool's own exit code comes through, and nothing is built again.
        var mistaken = await RunAsync(link, "no-such-command");
        Assert.Equal(2, mistaken.ExitCode);
        Assert.Equal([tool], BuiltTools());

        // A change that does not compile is an error that names the place, never a run of the old tool.
        var broken = Path.Combine(_clone, "src", "Cairn.Cli", "Broken.cs");
        await File.WriteAllTextAsync(broken, "this is not C#");
        var failed = await RunAsync(link, "--version");
        Assert.Equal((LauncherFailed, ""), (failed.ExitCode, failed.Output));
        Assert.Contains("Broken.cs(1", failed.Errors, StringComparison.Ordinal);

        // Undone, the tool of before is right again.
        File.Delete(broken);
        Assert.Equal(new ProgramRun(0, "a tool\n", ""), await RunAsync(link, "--version"));
        Assert.Equal([tool], BuiltTools());
    }

    [Fact]
    public async Task Tool_is_published_under_the_name_of_its_command()
    {
        var published = Path.Combine(_clone, "published");
        var publishing = await RunAsync(
            "dotnet",
            [
                "publish", Path.Combine(Repository.Root, "src", "Cairn.Cli", "Cairn.Cli.csproj"), "--configuration", Configuration, "--no-build",
                "--output", published, "-p:PublishReadyToRun=false", "-nodeReuse:false", "-nologo", "-verbosity:quiet",
            ]);
        Assert.True(publishing.ExitCode == 0, publishing.Everything);

        var run = await RunAsync(Path.Combine(published, "cairn"), ["--version"]);

        Assert.Equal((0, ""), (run.ExitCode, run.Errors));
        Assert.Matches(@"^cairn \d+\.\d+", run.Output);
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

    private void Write(string file, string text)
    {
        var path = Path.Combine(_clone, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }

    private static string FindOnPath(string program) =>
        Environment.GetEnvironmentVariable("PATH")!.Split(Path.PathSeparator)
            .Select(directory => Path.Combine(directory, program))
            .First(File.Exists);

    private static Task<ProgramRun> RunAsync(string script, string argument, string? path = null) => RunAsync("bash", [script, argument], path);

    private static Task<ProgramRun> RunAsync(string program, string[] arguments, string? path = null)
    {
        var start = ProgramRun.Outside(program, Path.GetTempPath(), arguments);
        start.Environment["PATH"] = path ?? start.Environment["PATH"];
        return ProgramRun.FinishAsync(start);
    }
}
