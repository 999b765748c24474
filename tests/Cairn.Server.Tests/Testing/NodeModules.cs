using System.Security.Cryptography;

namespace Cairn.Server.Tests.Testing;

/// <summary>
/// The npm packages that a folder's package-lock.json names, installed once for all runs in artifacts/npm/KEY, where KEY is a hash of the
/// lock file. A folder appears there only when it is complete.
/// </summary>
internal static class NodeModules
{
    private static readonly string[] Files = ["package.json", "package-lock.json"];

    /// <summary>Returns the folder for Node's variable NODE_PATH.</summary>
    /// <param name="directory">The folder of package.json and package-lock.json.</param>
    public static async Task<string> InstalledAsync(string directory)
    {
        byte[] locked = await File.ReadAllBytesAsync(Path.Combine(directory, "package-lock.json"));
        string cache = RepositoryFile.At("artifacts", "npm");
        string installed = Path.Combine(cache, Convert.ToHexStringLower(SHA256.HashData(locked))[..16]);
        if (!Directory.Exists(installed))
        {
            Directory.CreateDirectory(cache);
            using var staging = new TestDirectory(cache);
            foreach (string file in Files)
            {
                File.Copy(Path.Combine(directory, file), staging[file]);
            }

            await new ClientProgram(
                "npm", "ci", "--prefix", staging.Path, "--ignore-scripts", "--no-audit", "--no-fund").RunAsync();
            Directory.Move(staging["node_modules"], installed);
        }

        return installed;
    }
}
