using System.IO.Compression;
using System.Xml.Linq;

namespace Cairn.ReleaseTests;

/// <summary>
/// The packages, created once for the tests that open them. They contain the output of the last build. With CAIRN_RELEASE=1, release/build
/// creates them.
/// </summary>
public sealed class MadePackages : IAsyncLifetime, IDisposable
{
    private readonly TestDirectory _directory = new();

    public string Folder => Release.IsComplete ? Path.Combine(MadeBinaries.Folder, "packages") : _directory["packages"];

    /// <summary>Gets the output of release/build, or an empty text if it did not run.</summary>
    public string Said { get; private set; } = "";

    public async Task InitializeAsync()
    {
        if (Release.IsComplete)
        {
            Said = await MadeBinaries.MakeOnceAsync();
            return;
        }

        await Release.RunAsync(
            RepositoryFile.Root, "dotnet", "pack", "Cairn.slnx", "--configuration", "Release", "--no-build", "--output", Folder,
            "-nologo", "-verbosity:quiet", "-nodeReuse:false");
    }

    public Task DisposeAsync() => Task.CompletedTask;

    public void Dispose() => _directory.Dispose();

    internal ZipArchive Open(string id, string extension = "nupkg") =>
        ZipFile.OpenRead(Path.Combine(Folder, $"{id}.{VersionOf(id)}.{extension}"));

    internal string VersionOf(string id)
    {
        using var package = ZipFile.OpenRead(Directory.GetFiles(Folder, $"{id}.*.nupkg").Single(file => IsOf(file, id)));
        return MetadataOf(package).Single(element => element.Name.LocalName == "version").Value;
    }

    internal static List<XElement> MetadataOf(ZipArchive package)
    {
        using var nuspec = package.Entries.Single(entry => entry.Name.EndsWith(".nuspec", StringComparison.Ordinal)).Open();
        return [.. XDocument.Load(nuspec).Root!.Elements().Single().Elements()];
    }

    // Cairn.0.1.0 is a version of Cairn. Cairn.Redis.0.1.0 is not.
    private static bool IsOf(string file, string id) => char.IsAsciiDigit(Path.GetFileName(file)[id.Length + 1]);
}
