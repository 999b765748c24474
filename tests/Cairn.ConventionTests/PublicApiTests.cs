using System.Reflection;

namespace Cairn.ConventionTests;

/// <summary>What users can call changes only on purpose: PublicApi/PROJECT.txt holds it, and a change shows in review.</summary>
public class PublicApiTests
{
    private const string UpdateVariable = "CAIRN_UPDATE_API";

    public static TheoryData<string> ShippedProjects => [.. Repository.ShippedProjects.Select(Repository.ProjectName)];

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Public_api_is_the_one_that_was_agreed(string project)
    {
        var snapshot = Repository.At($"tests/Cairn.ConventionTests/PublicApi/{project}.txt");
        var present = ApiDescription.Of(Assembly.Load(project));
        if (Environment.GetEnvironmentVariable(UpdateVariable) == "1")
        {
            File.WriteAllLines(snapshot, present);
        }

        var agreed = File.Exists(snapshot) ? File.ReadAllLines(snapshot) : [];

        var difference = LineDifference.Between(agreed, present);
        Assert.True(difference.Count == 0, $"""
            The public API of {project} is not the one in {Repository.Relative(snapshot)}:

            {string.Join('\n', difference)}

            When the change is meant, accept it with: {UpdateVariable}=1 ./test convention
            """);
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

    [Fact]
    public void Every_snapshot_belongs_to_a_project()
    {
        var snapshots = Directory.EnumerateFiles(Repository.At("tests/Cairn.ConventionTests/PublicApi"), "*.txt")
            .Select(file => Path.GetFileNameWithoutExtension(file)!);

        Assert.Equal(
            Repository.ShippedProjects.Select(Repository.ProjectName).Order(StringComparer.Ordinal),
            snapshots.Order(StringComparer.Ordinal));
    }
}
