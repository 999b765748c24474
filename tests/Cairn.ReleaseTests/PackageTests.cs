using System.IO.Compression;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Cairn.ReleaseTests;

/// <summary>The content of the packages, and their use in a new project.</summary>
public sealed partial class PackageTests(MadePackages packages) : IClassFixture<MadePackages>
{
    public static TheoryData<string> Libraries => [.. Packed().Where(id => id != "Cairn.Tool")];

    public static TheoryData<string> All => [.. Packed()];

    [Fact]
    public void Every_project_that_may_be_packed_is_and_nothing_else()
    {
        var made = Directory.GetFiles(packages.Folder, "*.nupkg").Select(Path.GetFileName).Where(name => !PlatformOfTool().IsMatch(name!));

        Assert.Equal(Packed().Select(id => $"{id}.{packages.VersionOf(id)}.nupkg").Order(StringComparer.Ordinal), made.Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(All))]
    public void Package_says_what_it_is_under_which_licence_with_icon_and_readme(string id)
    {
        using var package = packages.Open(id);

        var metadata = MadePackages.MetadataOf(package).ToDictionary(element => element.Name.LocalName, StringComparer.Ordinal);
        Assert.Equal(("MIT", "expression"), (metadata["license"].Value, (string?)metadata["license"].Attribute("type")));
        Assert.All((string[])["description", "tags", "authors", "copyright", "releaseNotes"], name => Assert.NotEmpty(metadata[name].Value));
        Assert.StartsWith($"# {id}\n", TextOf(package, metadata["readme"].Value), StringComparison.Ordinal);
        Assert.Equal(1, BytesOf(package, metadata["icon"].Value).AsSpan().IndexOf("PNG"u8)); // The signature of PNG starts with a byte that is not text.
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Library_comes_with_the_documentation_of_its_members_and_with_symbols(string id)
    {
        using var package = packages.Open(id);
        using var symbols = packages.Open(id, "snupkg");

        Assert.NotNull(package.GetEntry($"lib/net10.0/{id}.dll"));
        var documented = XDocument.Parse(TextOf(package, $"lib/net10.0/{id}.xml")).Descendants("member");
        Assert.NotEmpty(documented);
        Assert.NotNull(symbols.GetEntry($"lib/net10.0/{id}.pdb"));
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Packages_that_see_each_others_internals_ask_for_the_same_version(string id)
    {
        using var package = packages.Open(id);

        var own = MadePackages.MetadataOf(package).Single(e => e.Name.LocalName == "dependencies").Descendants()
            .Where(e => ((string?)e.Attribute("id"))?.StartsWith("Cairn", StringComparison.Ordinal) == true);

        Assert.All(own, dependency => Assert.Equal($"[{packages.VersionOf(id)}]", (string?)dependency.Attribute("version")));
        Assert.Empty(own.Select(dependency => (string)dependency.Attribute("id")!).Except(Packed(), StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Package_asks_for_nothing_that_only_its_own_build_needs(string id)
    {
        using var package = packages.Open(id);
        var analyzers = XDocument.Load(RepositoryFile.At("Directory.Packages.props")).Descendants("GlobalPackageReference").Select(e => (string)e.Attribute("Include")!);

        var asked = MadePackages.MetadataOf(package).Single(e => e.Name.LocalName == "dependencies").Descendants().Select(e => (string?)e.Attribute("id"));

        Assert.NotEmpty(analyzers);
        Assert.Empty(asked.Intersect(analyzers, StringComparer.OrdinalIgnoreCase));
        Assert.DoesNotContain(package.Entries, entry => entry.FullName.StartsWith("analyzers/", StringComparison.Ordinal));
    }

    [ReleaseFact]
    public void Command_that_makes_the_release_prints_the_lines_that_add_packages_to_a_project()
    {
        string[] lines = packages.Said.Split('\n', StringSplitOptions.RemoveEmptyEntries);

        Assert.Equal(
            [
                $"dotnet nuget add source {packages.Folder} --name cairn",
                .. Packed().Where(id => id != "Cairn.Tool").Order(StringComparer.Ordinal).Select(id => $"dotnet add package {id} --prerelease"),
                "dotnet tool install --global Cairn.Tool --prerelease",
            ],
            lines);
    }

    [ReleaseFact]
    public void Tool_has_a_package_for_each_platform_with_one_binary_on_linux()
    {
        using var named = packages.Open("Cairn.Tool");
        using var native = packages.Open("Cairn.Tool.linux-arm64");

        var listed = XDocument.Parse(TextOf(named, "tools/any/any/DotnetToolSettings.xml")).Descendants("RuntimeIdentifierPackage")
            .ToDictionary(element => (string)element.Attribute("RuntimeIdentifier")!, element => (string)element.Attribute("Id")!, StringComparer.Ordinal);
        var made = Directory.GetFiles(packages.Folder, "Cairn.Tool.*.nupkg").Select(Path.GetFileName).Where(name => PlatformOfTool().IsMatch(name!));

        Assert.Equal(["any", "linux-arm64", "linux-musl-x64", "linux-x64", "osx-arm64", "win-x64"], listed.Keys.Order(StringComparer.Ordinal));
        Assert.Equal(listed.Values.Select(id => $"{id}.{packages.VersionOf("Cairn.Tool")}.nupkg").Order(StringComparer.Ordinal), made.Order(StringComparer.Ordinal));
        Assert.Equal(
            ["DotnetToolSettings.xml", "cairn"], native.Entries.Where(entry => entry.FullName.StartsWith("tools/", StringComparison.Ordinal)).Select(entry => entry.Name).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Tool_is_a_command_named_cairn()
    {
        using var package = packages.Open(Release.IsComplete ? "Cairn.Tool.any" : "Cairn.Tool");

        var command = XDocument.Parse(TextOf(package, "tools/net10.0/any/DotnetToolSettings.xml")).Descendants("Command").Single();

        Assert.Equal(("cairn", "dotnet"), ((string?)command.Attribute("Name"), (string?)command.Attribute("Runner")));
        Assert.NotNull(package.GetEntry($"tools/net10.0/any/{(string?)command.Attribute("EntryPoint")}"));
    }

    [ReleaseTheory]
    [MemberData(nameof(Libraries))]
    public void Symbols_hold_or_locate_every_source_and_name_no_folder_of_the_machine(string id)
    {
        using var symbols = packages.Open(id, "snupkg");
        var files = symbols.Entries.Where(entry => entry.Name.EndsWith(".pdb", StringComparison.Ordinal)).ToList();

        var sources = files.ConvertAll(file => (file.Name, Sources: DebugSources.Read(BytesOf(symbols, file.FullName))));

        Assert.NotEmpty(sources);
        Assert.All(sources, file => Assert.NotEmpty(file.Sources));
        Assert.All(sources.SelectMany(file => file.Sources), source => Assert.StartsWith("/_", source.Path, StringComparison.Ordinal));
        Assert.DoesNotContain(sources.SelectMany(file => file.Sources), source => !source.IsEmbedded && !source.IsLinked);
    }

    [Fact]
    public void Source_that_is_neither_embedded_nor_linked_is_noticed()
    {
        // The symbols of this assembly, which no build packs.
        var sources = DebugSources.Read(File.ReadAllBytes(Path.ChangeExtension(typeof(PackageTests).Assembly.Location, ".pdb")));

        var own = Assert.Single(sources, source => source.Path.EndsWith("/PackageTests.cs", StringComparison.Ordinal));
        Assert.Equal((false, false), (own.IsEmbedded, own.IsLinked));
    }

    [Theory]
    [InlineData("/_/src/Cairn/CairnStore.cs", true)]
    [InlineData("/_/generated.cs", true)]
    [InlineData("/other/CairnStore.cs", false)]
    public void Source_link_covers_the_paths_that_it_names(string path, bool isLinked)
    {
        Assert.Equal(isLinked, DebugSources.IsLinked("""{"documents":{"/_/src/*":"https://example.com/raw/1/*","/_/generated.cs":"https://example.com/g"}}""", path));
    }

    [Fact]
    public async Task New_console_project_restores_the_packages_from_a_folder_and_runs()
    {
        using var directory = new TestDirectory();
        await WriteConfigurationAsync(directory.Path);
        await File.WriteAllTextAsync(directory["shop.csproj"], $"""
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <OutputType>Exe</OutputType>
                <TargetFramework>net10.0</TargetFramework>
                <ImplicitUsings>enable</ImplicitUsings>
                <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
              </PropertyGroup>
              <ItemGroup>
                <PackageReference Include="Cairn.Memcached" Version="{packages.VersionOf("Cairn.Memcached")}" />
                <PackageReference Include="Cairn.Redis" Version="{packages.VersionOf("Cairn.Redis")}" />
              </ItemGroup>
            </Project>
            """);
        await File.WriteAllTextAsync(directory["Program.cs"], """
            using Cairn;
            using Cairn.Caching;

            using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
            store.DefaultCollection.Set("book:42"u8, "Dune"u8, TimeSpan.FromMinutes(5));
            Console.WriteLine($"{store.DefaultCollection.GetString("book:42")} {typeof(CairnHybridCache).Name}");
            """);

        await Release.RunAsync(directory.Path, "dotnet", "build", "-nologo", "-verbosity:quiet", "--output", "out", "-nodeReuse:false",
            "-p:UseSharedCompilation=false");
        var output = await Release.RunAsync(directory.Path, "dotnet", "out/shop.dll");

        Assert.Equal("Dune CairnHybridCache\n", output);
    }

    /// <summary>With CAIRN_RELEASE=1, this is the native binary.</summary>
    [Fact]
    public async Task Tool_is_installed_into_an_empty_home_runs_and_leaves_no_command_when_removed()
    {
        using var directory = new TestDirectory();
        await WriteConfigurationAsync(directory.Path);
        var home = Directory.CreateDirectory(directory["home"]).FullName;
        Dictionary<string, string> environment = new(StringComparer.Ordinal)
        {
            ["HOME"] = home,
            ["DOTNET_CLI_HOME"] = home,
            ["PATH"] = Environment.GetEnvironmentVariable("PATH")!,
            ["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1",
        };
        var command = Path.Combine(home, ".dotnet", "tools", "cairn");

        await ToolAsync("install", "--version", packages.VersionOf("Cairn.Tool"), "--configfile", directory["nuget.config"]);
        var version = await Release.TryRunAsync(directory.Path, environment, command, "--version");
        var start = new byte[4];
        using (var file = File.OpenRead(command))
        {
            await file.ReadExactlyAsync(start);
        }

        await ToolAsync("uninstall");

        Assert.Equal(new ProgramRun(0, $"cairn {packages.VersionOf("Cairn.Tool")}\n", ""), version);
        Assert.Equal("\u007fELF"u8, start);
        Assert.False(Path.Exists(command));

        async Task ToolAsync(string verb, params string[] options)
        {
            var run = await Release.TryRunAsync(directory.Path, environment, "dotnet", ["tool", verb, "--global", "Cairn.Tool", .. options]);
            Assert.True(run.ExitCode == 0, run.Everything);
        }
    }

    // All other packages were restored to build the tests. Only the packages under test come from a new source.
    private async Task WriteConfigurationAsync(string directory)
    {
        var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        var restored = Environment.GetEnvironmentVariable("NUGET_PACKAGES") ?? Path.Combine(home, ".nuget", "packages");
        await File.WriteAllTextAsync(Path.Combine(directory, "nuget.config"), $"""
            <configuration>
              <config><add key="globalPackagesFolder" value="restored" /></config>
              <fallbackPackageFolders><clear /><add key="restored" value="{restored}" /></fallbackPackageFolders>
              <packageSources><clear /><add key="made" value="{packages.Folder}" /></packageSources>
            </configuration>
            """);
    }

    [GeneratedRegex(@"^Cairn\.Tool\.[a-z]")]
    private static partial Regex PlatformOfTool();

    // Read from src, so that the list is complete.
    private static List<string> Packed() =>
    [
        .. from project in Directory.GetFiles(RepositoryFile.At("src"), "*.csproj", SearchOption.AllDirectories)
           let properties = XDocument.Load(project).Descendants()
           where properties.Any(property => property.Name.LocalName == "IsPackable" && property.Value == "true")
           let id = properties.FirstOrDefault(property => property.Name.LocalName == "PackageId")?.Value
           orderby project
           select id ?? Path.GetFileNameWithoutExtension(project),
    ];

    private static string TextOf(ZipArchive package, string name)
    {
        using var reader = new StreamReader(package.GetEntry(name)!.Open());
        return reader.ReadToEnd();
    }

    private static byte[] BytesOf(ZipArchive package, string name)
    {
        using var content = package.GetEntry(name)!.Open();
        using var copy = new MemoryStream();
        content.CopyTo(copy);
        return copy.ToArray();
    }
}
