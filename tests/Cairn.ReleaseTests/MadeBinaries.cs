namespace Cairn.ReleaseTests;

/// <summary>What release/build makes, all in one run. The tests of archives, packages and the image share it.</summary>
public sealed class MadeBinaries : IAsyncLifetime
{
    // In the folder of the sources, because most of it is needed again by the next run.
    private static readonly string s_folder = RepositoryFile.At("artifacts", "release-tests");
    private static readonly SemaphoreSlim s_gate = new(1);
    private static string? s_output;

    public static string Folder => s_folder;

    public string DebianPackage => Made("cairn_*_amd64.deb");

    public string DebianPackageForArm64 => Made("cairn_*_arm64.deb");

    public string Image => Made("cairn-*-image-linux-x64.tar");

    public string Archive(string target) => Made($"cairn-*-{target}.tar.gz");

    /// <summary>Returns the path of the one file with this name.</summary>
    public string Made(string pattern) => Directory.GetFiles(s_folder, pattern).Single();

    /// <summary>Runs release/build if it has not run yet. Returns its output.</summary>
    public static async Task<string> MakeOnceAsync()
    {
        await s_gate.WaitAsync();
        try
        {
            return s_output ??= await MakeAsync();
        }
        finally
        {
            s_gate.Release();
        }
    }

    /// <summary>Unpacks the binary of a target, and returns its path.</summary>
    internal async Task<string> UnpackAsync(string target, TestDirectory directory)
    {
        await Release.RunAsync(directory.Path, "tar", "-xzf", Archive(target));
        return Path.Combine(Directory.GetDirectories(directory.Path, $"*-{target}").Single(), "cairn");
    }

    public async Task InitializeAsync()
    {
        if (Release.IsComplete)
        {
            await MakeOnceAsync();
        }
    }

    public Task DisposeAsync() => Task.CompletedTask;

    private static async Task<string> MakeAsync()
    {
        if (Directory.Exists(s_folder))
        {
            Directory.Delete(s_folder, recursive: true);
        }

        string output = await Release.RunAsync(RepositoryFile.Root, "bash", RepositoryFile.At("release", "build"), "--output", s_folder);
        await Release.RunAsync(s_folder, "sha256sum", "--check", "--quiet", "SHA256SUMS");
        return output;
    }
}
