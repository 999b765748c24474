namespace Cairn.ConventionTests;

/// <summary>
/// The folders of a project are layers: no circle of references leads from a folder back to it. docs/architecture.md draws them as the compiled assemblies
/// have them. <see cref="ReferencesOfAssembly"/> says which references there are; constants are not among them, since the compiler puts their values in their place.
/// </summary>
public class LayerTests
{
    private const string Document = "docs/architecture.md";

    private const string Store = "Cairn";

    // The layers of the store, the lowest first. The document describes them.
    private static readonly (string Name, string[] Folders)[] s_storeLayers =
    [
        ("Platform", ["Maps", "Messages", "Platform", "Steps"]),
        ("File", ["Collections", "Concurrency", "Encryption", "Indexing", "Invalidation", "Keys", "Leasing", "Segments", "Storage", "WriteAhead"]),
        ("Engine", ["Engine", "Eviction", "Recovering"]),
        ("Maintenance", ["Offline", "Opening", "Snapshots", "Analysis"]),
    ];

    private static readonly string[] s_projects = [.. Repository.ShippedProjects.Select(Repository.ProjectName).Order(StringComparer.Ordinal)];

    public static TheoryData<string> ShippedProjects => [.. s_projects];

    [Theory]
    [MemberData(nameof(ShippedProjects))]
    public void Folders_of_a_project_refer_to_each_other_in_no_circle(string project)
    {
        var circles =
            from graph in GraphsOf(project)
            from circle in graph.Cycles
            select graph.Describe(circle);

        Assert.True(!circles.Any(), string.Join('\n', circles));
    }

    [Fact]
    public void Store_has_four_layers_none_of_which_refers_to_a_higher_one()
    {
        FolderGraph graph = GraphsOf(Store).Single(graph => graph.Folder == Store);

        var upwards =
            from lower in Enumerable.Range(0, s_storeLayers.Length)
            from higher in Enumerable.Range(lower + 1, s_storeLayers.Length - lower - 1)
            from source in s_storeLayers[lower].Folders
            from target in s_storeLayers[higher].Folders
            where graph.Reaches(source, target)
            select $"{source} of the layer {s_storeLayers[lower].Name} refers to {target} of {s_storeLayers[higher].Name}";

        Assert.Equal(graph.Folders.Order(StringComparer.Ordinal), s_storeLayers.SelectMany(layer => layer.Folders).Order(StringComparer.Ordinal));
        Assert.Empty(upwards);
    }

    [Fact]
    public void Architecture_draws_the_layers_as_the_assemblies_have_them()
    {
        string document = File.ReadAllText(Repository.At(Document));
        var drawings = s_projects.SelectMany(GraphsOf).Select(graph => $"{graph.Folder}\n{graph.Draw(graph.Folder == Store ? StoreLayerOf : null)}\n");
        string expected = $"```text\n{string.Join('\n', drawings)}```\n";

        Assert.True(document.Contains(expected, StringComparison.Ordinal), $"{Document} does not have the layers as they are:\n{expected}");
    }

    [Fact]
    public void Reference_of_every_kind_is_found_with_its_member()
    {
        var found = ReferencesOfAssembly.Read(typeof(LayerTests).Assembly.Location)
            .Where(reference => reference.Source.StartsWith("Cairn.ConventionTests.LayerExample.Upper.", StringComparison.Ordinal))
            .Select(reference => $"{reference.Member} -> {reference.Target[(reference.Target.LastIndexOf('.') + 1)..]}")
            .Order(StringComparer.Ordinal);

        Assert.Equal(
            [
                "UpperConstrained`1 -> ILower",
                "UpperDerived -> LowerBase",
                "UpperDerived..ctor -> LowerBase",
                "UpperField..ctor -> LowerPart",
                "UpperField.Parts() -> LowerPart",
                "UpperField.get_Parts -> LowerPart",
                "UpperImplementation -> ILower",
                "UpperProxied -> LowerPart",
                "UpperTypes.UsesArgumentOfGenericMethod -> LowerPart",
                "UpperTypes.UsesAttribute -> LowerAttribute",
                "UpperTypes.UsesCatch -> LowerException",
                "UpperTypes.UsesField -> LowerPart",
                "UpperTypes.UsesInFunctionPointer -> LowerChoice",
                "UpperTypes.UsesInLambda() -> LowerBase",
                "UpperTypes.UsesInParameter -> LowerPart",
                "UpperTypes.UsesLocal -> LowerPart",
                "UpperTypes.UsesMethod -> LowerPart",
                "UpperTypes.UsesTypeOf -> LowerPart",
            ],
            found);
    }

    [Fact]
    public void Circle_is_described_by_the_members_that_close_it()
    {
        FolderGraph graph = FolderGraph.Of("Cairn.ConventionTests.LayerExample", ReferencesOfAssembly.Read(typeof(LayerTests).Assembly.Location)).Single();

        string[] circle = Assert.Single(graph.Cycles);

        Assert.Equal(["Lower/", "Upper/"], circle);
        Assert.Contains("Lower/ -> Upper/ (1 against 18)\n    LowerCaller.CallUpwards() -> Cairn.ConventionTests.LayerExample.Upper.UpperTypes\n", graph.Describe(circle), StringComparison.Ordinal);
    }

    private static string StoreLayerOf(string folder) => s_storeLayers.First(layer => layer.Folders.Contains(folder, StringComparer.Ordinal)).Name;

    // An extension of the service collection lies in the folder Registration, and is in the namespace where applications look for it.
    private static IReadOnlyList<FolderGraph> GraphsOf(string project)
    {
        var references = ReferencesOfAssembly.Read(Path.Combine(AppContext.BaseDirectory, project + ".dll"))
            .Select(reference => reference with { Source = InFolder(reference.Source), Target = InFolder(reference.Target) });
        return FolderGraph.Of(project, [.. references]);

        string InFolder(string type) => type.StartsWith(ProjectTests.RegistrationNamespace + ".", StringComparison.Ordinal)
            ? $"{project}.Registration{type[ProjectTests.RegistrationNamespace.Length..]}"
            : type;
    }
}
