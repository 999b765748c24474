using System.Reflection;
using System.Security.Cryptography;

namespace Cairn.Dashboard.Pages.Web;

/// <summary>A file of the pages.</summary>
/// <param name="ContentType">The media type.</param>
/// <param name="ETag">The entity tag, which changes with the content.</param>
/// <param name="Bytes">The content.</param>
internal sealed record Asset(string ContentType, string ETag, byte[] Bytes);

/// <summary>The files of the pages, which are resources of this assembly.</summary>
internal static class AssetTable
{
    /// <summary>The page that loads all other files.</summary>
    public const string Index = "index.html";

    /// <summary>Gets all files by their path.</summary>
    public static IReadOnlyDictionary<string, Asset> All { get; } = Load();

    private static Dictionary<string, Asset> Load()
    {
        Assembly assembly = typeof(AssetTable).Assembly;
        return assembly.GetManifestResourceNames().ToDictionary(name => name.Replace('\\', '/'), name => Read(assembly, name), StringComparer.Ordinal);
    }

    private static Asset Read(Assembly assembly, string name)
    {
        using Stream stream = assembly.GetManifestResourceStream(name)!;
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        string type = Path.GetExtension(name) switch
        {
            ".html" => "text/html; charset=utf-8",
            ".css" => "text/css; charset=utf-8",
            ".js" => "text/javascript; charset=utf-8",
            ".svg" => "image/svg+xml",
            _ => "application/octet-stream",
        };
        return new Asset(type, $"\"{Convert.ToHexStringLower(SHA256.HashData(bytes)[..12])}\"", bytes);
    }
}
