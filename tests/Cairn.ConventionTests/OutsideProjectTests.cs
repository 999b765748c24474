using System.Xml.Linq;

namespace Cairn.ConventionTests;

/// <summary>
/// A project elsewhere that refers to one of ours gets neither our analyzers nor our errors, and a build of ours gets both. A small library with a warning
/// of the compiler and one of an analyzer stands in the place of the real one, with the real project file.
/// </summary>
public sealed class OutsideProjectTests : IDisposable
{
    private const string OfTheCompiler = "CS0168";
    private const string OfAnAnalyzer = "CA1305";

    private readonly string _folder = Directory.CreateTempSubdirectory("cairn-outside-").FullName;

    public OutsideProjectTests()
    {
        foreach (var file in (string[])
            ["global.json", "Directory.Build.props", "Directory.Packages.props", ".editorconfig", "src/Directory.Build.props", "src/Directory.Build.targets"])
        {
            Write("cairn/" + file, File.ReadAllText(Repository.At(file)));
        }

        var project = XDocument.Load(Repository.At("src/Cairn/Cairn.csproj"));
        project.Root!.Elements("ItemGroup").Remove();
        Write("cairn/src/Cairn/Cairn.csproj", project.ToString());
        Write("cairn/src/Cairn/Warned.cs", """
            namespace Cairn;

            /// <summary>Warned of.</summary>
            public static class Warned
            {
                /// <summary>Digits.</summary>
                public static string Digits(int number)
                {
                    int unused;
                    return number.ToString();
                }
            }
            """);
        Write("app/App.csproj", """
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>
                <OutputType>Exe</OutputType>
              </PropertyGroup>
              <ItemGroup>
                <ProjectReference Include="../cairn/src/Cairn/Cairn.csproj" />
              </ItemGroup>
            </Project>
            """);
        Write("cairn/Cairn.slnx", """<Solution><Project Path="src/Cairn/Cairn.csproj" /></Solution>""");
        Write("app/Program.cs", "System.Console.WriteLine(Cairn.Warned.Digits(42));\n");
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    // One test, because each build takes seconds.
    [Fact]
    public async Task Only_a_build_of_cairn_itself_runs_its_analyzers_and_fails_on_warnings()
    {
        var outside = await BuildAsync("cairn", "../app"); // From within the clone, as README.md does it.
        var inside = await BuildAsync("cairn");

        Assert.True(outside.ExitCode == 0, outside.Everything);
        Assert.DoesNotContain(OfAnAnalyzer, outside.Output, StringComparison.Ordinal);
        Assert.NotEqual(0, inside.ExitCode);
        Assert.Contains($"error {OfTheCompiler}", inside.Output, StringComparison.Ordinal);
        Assert.Contains($"error {OfAnAnalyzer}", inside.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Tests_of_everything_build_with_analyzers()
    {
        Assert.Contains(" -p:ChecksCairn=true ", File.ReadAllText(Repository.At("test")), StringComparison.Ordinal);
    }

    private Task<ProgramRun> BuildAsync(string folder, params string[] project)
    {
        var start = ProgramRun.Outside("dotnet", Path.Combine(_folder, folder), ["build", .. project, "-nologo", "-nodeReuse:false", "-p:UseSharedCompilation=false"]);
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        return ProgramRun.FinishAsync(start);
    }

    private void Write(string file, string text)
    {
        var path = Path.Combine(_folder, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
    }
}
