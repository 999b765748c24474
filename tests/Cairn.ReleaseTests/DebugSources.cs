using System.Reflection.Metadata;
using System.Text;
using System.Text.Json;

namespace Cairn.ReleaseTests;

/// <summary>
/// Reads from an assembly's symbols where a debugger finds the source files. The format is Portable PDB v1.0, "CustomDebugInformation".
/// </summary>
internal static class DebugSources
{
    private static readonly Guid EmbeddedSource = new("0E8A571B-6926-466E-B4AD-8AB04611F5FE");
    private static readonly Guid SourceLink = new("CC110556-A091-4D38-9FEC-25AB9A351A6A");

    /// <summary>Returns all source files: whether the symbols contain the text, and whether source link has an address for it.</summary>
    public static List<(string Path, bool IsEmbedded, bool IsLinked)> Read(byte[] symbols)
    {
        using var provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(symbols));
        var reader = provider.GetMetadataReader();
        var information = reader.CustomDebugInformation.Select(reader.GetCustomDebugInformation).ToList();
        var embedded = information.Where(i => reader.GetGuid(i.Kind) == EmbeddedSource).Select(i => i.Parent).ToHashSet();
        var links = information.Where(i => reader.GetGuid(i.Kind) == SourceLink).Select(i => Encoding.UTF8.GetString(reader.GetBlobBytes(i.Value)))
            .ToList();
        return
        [
            .. from handle in reader.Documents
               let path = reader.GetString(reader.GetDocument(handle).Name)
               select (path, embedded.Contains(handle), links.Exists(link => IsLinked(link, path))),
        ];
    }

    /// <summary>
    /// Returns whether this source link map (JSON) has an address for the path. A key that ends in * matches all paths with this start.
    /// </summary>
    public static bool IsLinked(string map, string path)
    {
        using var document = JsonDocument.Parse(map);
        return document.RootElement.GetProperty("documents").EnumerateObject()
            .Any(entry => entry.Name.EndsWith('*') ? path.StartsWith(entry.Name[..^1], StringComparison.Ordinal) : path == entry.Name);
    }
}
