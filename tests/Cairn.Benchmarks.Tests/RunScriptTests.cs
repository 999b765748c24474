using System.CommandLine;

namespace Cairn.Benchmarks.Tests;

public class RunScriptTests
{
    [Fact]
    public async Task Help_of_the_script_names_every_area_and_option_and_needs_no_build()
    {
        using var folder = new TestDirectory();
        var start = ProgramRun.Outside("/bin/bash", folder.Path, RepositoryFile.At("bench", "run"), "--help");
        // The PATH contains no dotnet.
        start.Environment["PATH"] = folder.Path;
        File.CreateSymbolicLink(folder["dirname"], "/usr/bin/dirname");
        File.CreateSymbolicLink(folder["cat"], "/bin/cat");

        var run = await ProgramRun.FinishAsync(start);

        Assert.True(run.ExitCode == 0, run.Everything);
        Assert.All(BenchmarkCommand.Areas, area => Assert.Contains($"\n  {area.Name} ", run.Output, StringComparison.Ordinal));
        var command = BenchmarkCommand.Create();
        Assert.All(command.Options, option => Assert.Contains($"\n  {NameOf(option)}", run.Output, StringComparison.Ordinal));
    }

    private static string NameOf(Option option) => option.HelpName is { } value ? $"{option.Name} {value}" : option.Name;
}
