using System.Reflection;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Cairn.ConventionTests;

/// <summary>What depends on what, and that nothing is left out.</summary>
public partial class ProjectTests
{
    // Where applications look for services.AddSomething(): the one namespace that is not its folder's.
    internal const string RegistrationNamespace = "Microsoft.Extensions.DependencyInjection";

    // Dependencies point one way. A new arrow is a decision: record it in docs/decisions, then here.
    private static readonly Dictionary<string, string[]> AllowedProjects = new(StringComparer.Ordinal)
    {
        ["Cairn"] = [],
        ["Cairn.Caching"] = ["Cairn"],
        ["Cairn.Caching.AspNetCore"] = ["Cairn.Caching"],
        ["Cairn.Caching.Protobuf"] = ["Cairn.Caching"],
        ["Cairn.FileStore"] = ["Cairn"],
        ["Cairn.Protocol"] = [],
        ["Cairn.Clients"] = ["Cairn.Protocol"],
        ["Cairn.Memcached"] = ["Cairn.Protocol", "Cairn.Clients", "Cairn.Caching"],
        ["Cairn.Redis"] = ["Cairn.Protocol", "Cairn.Clients", "Cairn.Caching"],
        ["Cairn.Redis.StackExchange"] = ["Cairn.Redis"],
        ["Cairn.Server"] = ["Cairn", "Cairn.Protocol"],
        ["Cairn.Dashboard.Pages"] = ["Cairn"],
        ["Cairn.Dashboard"] = ["Cairn.Dashboard.Pages", "Cairn.Server"],
        ["Cairn.Dashboard.AspNetCore"] = ["Cairn.Dashboard.Pages", "Cairn.Caching"],
        ["Cairn.Cli"] = ["Cairn", "Cairn.FileStore", "Cairn.Protocol", "Cairn.Server", "Cairn.Dashboard"],
    };

    // Which project sees the internals of which (docs/decisions/0035). Their packages ask for each other's exact version.
    private static readonly Dictionary<string, string[]> AllowedInternals = new(StringComparer.Ordinal)
    {
        ["Cairn"] = ["Cairn.Caching", "Cairn.Cli", "Cairn.Dashboard", "Cairn.Dashboard.Pages", "Cairn.FileStore", "Cairn.Server"],
        ["Cairn.Caching"] = ["Cairn.Caching.AspNetCore", "Cairn.Caching.Protobuf", "Cairn.Dashboard.AspNetCore", "Cairn.Redis"],
        ["Cairn.Clients"] = ["Cairn.Memcached", "Cairn.Redis"],
        ["Cairn.Dashboard.Pages"] = ["Cairn.Dashboard", "Cairn.Dashboard.AspNetCore"],
        ["Cairn.FileStore"] = ["Cairn.Cli"],
        ["Cairn.Protocol"] = ["Cairn.Cli", "Cairn.Clients", "Cairn.Memcached", "Cairn.Redis", "Cairn.Server"],
        ["Cairn.Redis"] = ["Cairn.Redis.StackExchange"],
        ["Cairn.Server"] = ["Cairn.Cli", "Cairn.Dashboard"],
    };

    // The packages that a user of the project needs. A project that is not listed may use none.
    private static readonly Dictionary<string, string[]> AllowedPackages = new(StringComparer.Ordinal)
    {
        ["Cairn.Caching"] =
        [
            "Microsoft.Extensions.Caching.Abstractions", "Microsoft.Extensions.DependencyInjection.Abstractions",
            "Microsoft.Extensions.Diagnostics.HealthChecks", "Microsoft.Extensions.Logging.Abstractions", "Microsoft.Extensions.Options",
        ],
        ["Cairn.Caching.Protobuf"] = ["Google.Protobuf", "protobuf-net"],
        ["Cairn.Clients"] =
        [
            "Microsoft.Extensions.Caching.Abstractions", "Microsoft.Extensions.DependencyInjection.Abstractions",
            "Microsoft.Extensions.Logging.Abstractions", "Microsoft.Extensions.Options",
        ],
        ["Cairn.Memcached"] =
        [
            "Microsoft.Extensions.Caching.Abstractions", "Microsoft.Extensions.DependencyInjection.Abstractions", "Microsoft.Extensions.Logging.Abstractions",
        ],
        ["Cairn.Redis"] =
        [
            "Microsoft.Extensions.Caching.Abstractions", "Microsoft.Extensions.DependencyInjection.Abstractions",
            "Microsoft.Extensions.Diagnostics.HealthChecks", "Microsoft.Extensions.Logging.Abstractions", "Microsoft.Extensions.Options",
        ],
        ["Cairn.Redis.StackExchange"] =
        [
            "Microsoft.Extensions.DependencyInjection.Abstractions", "Microsoft.Extensions.Options", "StackExchange.Redis",
        ],
        ["Cairn.FileStore"] =
        [
            "Microsoft.Extensions.Caching.Abstractions", "Microsoft.Extensions.DependencyInjection.Abstractions",
            "Microsoft.Extensions.Hosting.Abstractions", "Microsoft.Extensions.Logging.Abstractions",
        ],
        ["Cairn.Server"] = ["Microsoft.Extensions.Logging.Abstractions", "System.IO.Hashing"],
        ["Cairn.Cli"] = ["System.CommandLine", "Spectre.Console", "OpenTelemetry", "OpenTelemetry.Exporter.OpenTelemetryProtocol"],
    };

    public static TheoryData<string> ShippedProjects => [.. Repository.ShippedProjects.Select(Repository.Relative)];

    [Fact]
    public void Documents_name_the_version_that_is_built()
    {
        var properties = XDocument.Load(Repository.At("Directory.Build.props")).Descendants().ToLookup(property => property.Name.LocalName, property => property.Value);
        string version = properties["VersionPrefix"].Single();
        bool isInDevelopment = properties["VersionSuffix"].Any(suffix => suffix.Length > 0);
        string told = $"The version is {version[..version.LastIndexOf('.')]}{(isInDevelopment ? " in development" : "")}";

        string latest = File.ReadLines(Repository.At("CHANGELOG.md")).First(line => line.StartsWith("## ", StringComparison.Ordinal));
        var others = Repository.Documents.Where(document => VersionOfDocument().Match(File.ReadAllText(document)) is { Success: true } match && match.Value != told);

        Assert.StartsWith(isInDevelopment ? "## [Unreleased]" : $"## [{version}] - ", latest, StringComparison.Ordinal);
        Assert.Empty(others);
    }

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Project_depends_only_on_projects_below_it(string project)
    {
        var name = Repository.ProjectName(project);
        Assert.True(AllowedProjects.ContainsKey(name), $"{name} has no place among the arrows of {nameof(ProjectTests)}.");

        var references = Repository.ItemsOf(Repository.At(project), "ProjectReference").Select(Repository.ProjectName);

        Assert.Empty(references.Except(AllowedProjects[name], StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Project_shows_its_internals_only_to_the_agreed_projects_above_it(string project)
    {
        var name = Repository.ProjectName(project);
        var agreed = AllowedInternals.GetValueOrDefault(name, []);

        var shown = Repository.ItemsOf(Repository.At(project), "InternalsVisibleTo").Intersect(AllowedProjects.Keys, StringComparer.Ordinal);

        Assert.Equal(agreed, shown.Order(StringComparer.Ordinal));
        Assert.All(agreed, user => Assert.True(DependsOn(user, name), $"{user} sees the internals of {name} without depending on it."));
    }

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Project_uses_only_packages_its_users_agreed_to(string project)
    {
        var allowed = AllowedPackages.GetValueOrDefault(Repository.ProjectName(project), []);

        var references = Repository.ItemsOf(Repository.At(project), "PackageReference");

        Assert.Empty(references.Except(allowed, StringComparer.Ordinal));
    }

    [Fact]
    public void Store_does_no_networking()
    {
        var references = Assembly.Load("Cairn").GetReferencedAssemblies().Select(reference => reference.Name!);

        Assert.DoesNotContain(references, name => name.StartsWith("System.Net", StringComparison.Ordinal));
    }

    [Fact]
    public void Every_project_is_in_the_solution()
    {
        var inSolution = XDocument.Load(Repository.At("Cairn.slnx")).Descendants("Project").Select(p => (string)p.Attribute("Path")!);

        Assert.Equal(Repository.Projects.Select(Repository.Relative), inSolution.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Every_package_version_is_in_one_place()
    {
        var versioned =
            from project in Repository.Projects
            from reference in XDocument.Load(project).Descendants("PackageReference")
            where reference.Attribute("Version") is not null || reference.Attribute("VersionOverride") is not null
            select $"{Repository.Relative(project)}: {(string?)reference.Attribute("Include")}";

        Assert.Empty(versioned);
    }

    [Fact]
    public void Source_file_declares_the_namespace_of_its_folder()
    {
        var misplaced =
            from file in Repository.Sources
            let relative = Repository.Relative(file)
            where relative.StartsWith("src/", StringComparison.Ordinal)
            let match = NamespaceDeclaration().Match(File.ReadAllText(file))
            where match.Success
            let folder = Path.GetDirectoryName(relative)!["src/".Length..].Replace('/', '.')
            let registers = relative.EndsWith("ServiceCollectionExtensions.cs", StringComparison.Ordinal)
                || relative.EndsWith("BuilderExtensions.cs", StringComparison.Ordinal)
            let expected = registers ? RegistrationNamespace : folder
            where match.Groups[1].Value != expected
            select $"{relative}: {match.Groups[1].Value}, expected {expected}";

        Assert.Empty(misplaced);
    }

    private static bool DependsOn(string project, string other) =>
        AllowedProjects[project].Any(used => used == other || DependsOn(used, other));

    [GeneratedRegex(@"^namespace\s+([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex NamespaceDeclaration();

    [GeneratedRegex(@"The version is \d+\.\d+( in development)?")]
    private static partial Regex VersionOfDocument();
}
