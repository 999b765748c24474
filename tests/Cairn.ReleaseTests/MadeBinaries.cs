namespace Cairn.ReleaseTests;

/// <summary>The tool with its own runtime for linux-x64, and its Debian package. release/build creates them once.</summary>
public sealed class MadeBinaries : IAsyncLifetime, IDisposable
{
    private readonly TestDirectory _directory = new();

    public string Archive => Directory.GetFiles(_directory.Path, "cairn-*-linux-x64.tar.gz").Single();

    public string DebianPackage => Directory.GetFiles(_directory.Path, "cairn_*_amd64.deb").Single();

    public async Task InitializeAsync()
    {
        if (Release.IsComplete)
        {
            await Release.RunAsync(
                RepositoryFile.Root, "bash", RepositoryFile.At("release", "build"), "linux-x64", "deb", "--output", _directory.Path);
            await Release.RunAsync(_directory.Path, "sha256sum", "--check", "--quiet", "SHA256SUMS");
        }
    }

    public Task DisposeAsync() => Task.CompletedTask;

    public void Dispose() => _directory.Dispose();
}
