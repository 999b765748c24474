using System.Reflection;

namespace Cairn.ConventionTests;

/// <summary>
/// The public API changes only on purpose. The analyzers of the build compare it with src/PROJECT/PublicAPI.*.txt, so a change shows in
/// review. These tests state what the analyzers do not.
/// </summary>
public class PublicApiTests
{
    public static TheoryData<string> ShippedProjects => [.. Repository.ShippedProjects.Select(Repository.ProjectName)];

    // Without the files the analyzers compare nothing.
    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Public_api_is_declared(string project)
    {
        var declared = new[] { "Shipped", "Unshipped" }
            .SelectMany(part => File.ReadLines(Repository.At($"src/{project}/PublicAPI.{part}.txt")))
            .ToHashSet(StringComparer.Ordinal);

        Assert.Contains("#nullable enable", declared);
        Assert.All(
            Assembly.Load(project).GetExportedTypes().Where(type => type is { IsGenericType: false, IsNested: false }),
            type => Assert.Contains(type.FullName!, declared));
    }

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Public_types_sit_at_the_root_namespace(string project)
    {
        var elsewhere = Assembly.Load(project).GetExportedTypes()
            .Where(type => type.Namespace != project)
            .Where(type => type.Namespace != ProjectTests.RegistrationNamespace || !(type.IsAbstract && type.IsSealed)); // Static classes.

        Assert.Empty(elsewhere);
    }
}
