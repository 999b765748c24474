using System.IO.Compression;

namespace Cairn.ReleaseTests;

/// <summary>
/// The tool for win-x64 from release/build, the tests of the store for Windows, and a Windows that runs them. They are created once.
/// </summary>
public sealed class MadeForWindows : IAsyncLifetime, IDisposable
{
    private readonly TestDirectory _directory = new();

    internal Wine? Wine { get; private set; }

    public string Tool => Directory.GetFiles(_directory["tool"], "cairn.exe", SearchOption.AllDirectories).Single();

    public string Tests => Path.Combine(_directory["tests"], "Cairn.Tests.exe");

    public async Task InitializeAsync()
    {
        if (WineTheoryAttribute.WhyNot is not null)
        {
            return;
        }

        Wine = new Wine();
        await Wine.PrepareAsync();
        await MadeBinaries.MakeOnceAsync();
        await ZipFile.ExtractToDirectoryAsync(Directory.GetFiles(MadeBinaries.Folder, "cairn-*-win-x64.zip").Single(), _directory["tool"]);
        await Release.RunAsync(
            RepositoryFile.Root, "dotnet", "publish", RepositoryFile.At("tests", "Cairn.Tests", "Cairn.Tests.csproj"), "--configuration", "Release",
            "--runtime", "win-x64", "--self-contained", "--artifacts-path", "artifacts/release-build", "--output", _directory["tests"],
            "-p:UseAppHost=true", "-p:RunAnalyzers=false", "-p:UseSharedCompilation=false", "-nodeReuse:false", "-nologo", "-verbosity:quiet");
    }

    public Task DisposeAsync() => Task.CompletedTask;

    public void Dispose()
    {
        Wine?.Dispose();
        _directory.Dispose();
    }
}
