using System.Text;

namespace Cairn.ConventionTests;

/// <summary>What directly lies in a folder of a project, and how these parts refer to each other: one graph for each folder that has subfolders.</summary>
/// <remarks>
/// A node is a subfolder with all that is below it ("Io/"), or a type that lies in the folder itself ("CairnServer"). Such a type is a node of its own, because
/// public types have to be in the root folder, whatever layer they belong to. A folder is a namespace.
/// </remarks>
internal sealed class FolderGraph
{
    private readonly SortedSet<string> _nodes = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Source, string Target), List<CompiledReference>> _edges = [];
    private readonly Dictionary<string, HashSet<string>> _reached;
    private readonly Dictionary<string, int> _heights = new(StringComparer.Ordinal);

    private FolderGraph(string folder, IEnumerable<CompiledReference> references)
    {
        Folder = folder;
        foreach (CompiledReference reference in references)
        {
            if (NodeOf(reference.Source) is not { } source || NodeOf(reference.Target) is not { } target)
            {
                continue;
            }

            _nodes.Add(source);
            _nodes.Add(target);
            if (source != target)
            {
                if (!_edges.TryGetValue((source, target), out List<CompiledReference>? members))
                {
                    _edges.Add((source, target), members = []);
                }

                members.Add(reference);
            }
        }

        _reached = _nodes.ToDictionary(node => node, NodesReachedFrom);
    }

    /// <summary>The namespace of the folder.</summary>
    public string Folder { get; }

    /// <summary>The sets of nodes that refer to each other in a circle, where at least one is a folder.</summary>
    public IEnumerable<string[]> Cycles =>
        _nodes.Select(CycleOf).Where(cycle => cycle.Length > 1 && cycle.Any(IsFolder)).DistinctBy(cycle => cycle[0]);

    /// <summary>The graph of a project's root folder, and then of each folder below that has subfolders.</summary>
    public static IReadOnlyList<FolderGraph> Of(string project, IReadOnlyCollection<CompiledReference> references)
    {
        IEnumerable<string> folders = references.SelectMany(reference => new[] { reference.Source, reference.Target })
            .SelectMany(type => FoldersAbove(type, project)).Append(project).Distinct().Order(StringComparer.Ordinal);
        return [.. folders.Select(folder => new FolderGraph(folder, references)).Where(graph => graph._nodes.Any(IsFolder))];
    }

    /// <summary>The subfolders.</summary>
    public IEnumerable<string> Folders => _nodes.Where(IsFolder).Select(folder => folder.TrimEnd('/'));

    /// <summary>Whether a subfolder refers to another one, also by way of others.</summary>
    public bool Reaches(string source, string target) => _reached[source + '/'].Contains(target + '/');

    /// <summary>The folders in lines, the lowest one last. Each folder refers only to lines below its own.</summary>
    /// <param name="layerOf">The name of a folder's layer, which begins its line; null if layers have no names.</param>
    public string Draw(Func<string, string>? layerOf)
    {
        var lines = Folders.GroupBy(folder => (Height: HeightOf(folder + '/'), Layer: layerOf?.Invoke(folder) ?? ""))
            .OrderByDescending(line => line.Key.Height)
            .Select(line => $"{(layerOf is null ? "" : $"{line.Key.Layer,-12}")}{line.Key.Height,2} | {string.Join("   ", line)}");
        return string.Join('\n', lines);
    }

    /// <summary>The fewest references that close the circle, as far as a simple search finds them, with their members.</summary>
    public string Describe(string[] cycle)
    {
        string[] order = Order(cycle);
        var text = new StringBuilder();
        for (int upper = 0; upper < order.Length; upper++)
        {
            for (int lower = upper + 1; lower < order.Length; lower++)
            {
                if (_edges.TryGetValue((order[lower], order[upper]), out List<CompiledReference>? references))
                {
                    text.Append(order[lower]).Append(" -> ").Append(order[upper]).Append(" (").Append(references.Count).Append(" against ")
                        .Append(Weight(order[upper], order[lower])).Append(")\n");
                    foreach (CompiledReference reference in references)
                    {
                        text.Append("    ").Append(reference.Member).Append(" -> ").Append(reference.Target).Append('\n');
                    }
                }
            }
        }

        return $"{Folder}: {string.Join(", ", order)}\n{text}";
    }

    private static bool IsFolder(string node) => node.EndsWith('/');

    private static IEnumerable<string> FoldersAbove(string type, string project)
    {
        for (int end = type.LastIndexOf('.'); end > project.Length && type.StartsWith(project + ".", StringComparison.Ordinal); end = type.LastIndexOf('.', end - 1))
        {
            yield return type[..end];
        }
    }

    private string? NodeOf(string type)
    {
        if (!type.StartsWith(Folder + ".", StringComparison.Ordinal))
        {
            return null;
        }

        string name = type[(Folder.Length + 1)..];
        int end = name.IndexOf('.', StringComparison.Ordinal);
        return end < 0 ? name : name[..(end + 1)].Replace('.', '/');
    }

    private HashSet<string> NodesReachedFrom(string node)
    {
        var reached = new HashSet<string>(StringComparer.Ordinal);
        var open = new Stack<string>([node]);
        while (open.TryPop(out string? next))
        {
            foreach ((string source, string target) in _edges.Keys)
            {
                if (source == next && reached.Add(target))
                {
                    open.Push(target);
                }
            }
        }

        return reached;
    }

    private string[] CycleOf(string node) =>
        [.. _nodes.Where(other => other == node || (_reached[node].Contains(other) && _reached[other].Contains(node)))];

    // A folder is one above the highest folder that it refers to, also by way of types outside of folders. Folders in a circle are equally high.
    private int HeightOf(string folder)
    {
        if (!_heights.TryGetValue(folder, out int height))
        {
            string[] cycle = CycleOf(folder);
            height = 1 + _reached[folder].Where(node => IsFolder(node) && !cycle.Contains(node, StringComparer.Ordinal)).Select(HeightOf).DefaultIfEmpty(0).Max();
            _heights.Add(folder, height);
        }

        return height;
    }

    private int Weight(string source, string target) => _edges.TryGetValue((source, target), out List<CompiledReference>? references) ? references.Count : 0;

    // Moves one node at a time to where the fewest references point upwards, until no move makes it better.
    private string[] Order(string[] cycle)
    {
        List<string> order = [.. cycle];
        bool isBetter = true;
        while (isBetter)
        {
            isBetter = false;
            foreach (string node in cycle)
            {
                int before = Upwards(order);
                int place = order.IndexOf(node);
                order.RemoveAt(place);
                int best = Enumerable.Range(0, cycle.Length).MinBy(index => Upwards([.. order[..index], node, .. order[index..]]));
                order.Insert(best, node);
                if (Upwards(order) >= before)
                {
                    order.Remove(node);
                    order.Insert(place, node);
                }
                else
                {
                    isBetter = true;
                }
            }
        }

        return [.. order];
    }

    private int Upwards(List<string> order)
    {
        int upwards = 0;
        for (int upper = 0; upper < order.Count; upper++)
        {
            for (int lower = upper + 1; lower < order.Count; lower++)
            {
                upwards += Weight(order[lower], order[upper]);
            }
        }

        return upwards;
    }
}
