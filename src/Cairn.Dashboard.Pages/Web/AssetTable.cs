using System.Collections.Frozen;
using System.Reflection;
using System.Security.Cryptography;

namespace Cairn.Dashboard.Pages.Web;

/// <summary>A file of the pages.</summary>
/// <param name="ContentType">What it is.</param>
/// <param name="ETag">Changes with its content.</param>
/// <param name="Bytes">The file.</param>
internal sealed record Asset(string ContentType, string ETag, byte[] Bytes);

/// <summary>The files that the pages consist of, out of this assembly.</summary>
internal static class AssetTable
{
    /// <summary>The page that asks for all the others.</summary>
    public const string Index = "index.html";

    /// <summary>All files by their path.</summary>
    public static FrozenDictionary<string, Asset> All { get; } = Load();

    private static FrozenDictionary<string, Asset> Load()
    {
        Assembly assembly = typeof(AssetTable).Assembly;
        return assembly.GetManifestResourceNames().ToFrozenDictionary(name => name.Replace('\\', '/'), name => Read(assembly, name), StringComparer.Ordinal);
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
