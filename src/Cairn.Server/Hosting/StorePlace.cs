namespace Cairn.Server.Hosting;

/// <summary>The default location of a server's store.</summary>
internal static class StorePlace
{
    private const string FolderName = "cairn";
    private const string FileName = "server.cairn";

    // systemd sets it for a unit with StateDirectory=. Several directories are separated by colons.
    private const string StateDirectoryVariable = "STATE_DIRECTORY";

    /// <summary>
    /// Returns the path of the store's file: in the service's state directory, if the service manager sets one, else in the data folder
    /// of the current user. The folder need not exist yet: see <see cref="Make"/>.
    /// </summary>
    /// <exception cref="ServerException">The user has no data folder.</exception>
    public static string Default(Func<string, string?> environment)
    {
        string? state = environment(StateDirectoryVariable)?.Split(':')[0];
        return Path.Combine(string.IsNullOrEmpty(state) ? UserFolder() : state, FileName);
    }

    /// <summary>Creates the folder of the default store, with access for its owner only.</summary>
    /// <returns>Whether the folder did not exist.</returns>
    /// <exception cref="ServerException">The folder cannot be created.</exception>
    public static bool Make(string store)
    {
        string folder = Path.GetDirectoryName(store)!;
        if (Directory.Exists(folder))
        {
            return false;
        }

        try
        {
            MakeFolder(folder);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ServerException(
                $"The folder '{folder}' for the store cannot be made: {e.Message} Name a file with --store FILE, or keep nothing with --ephemeral.", e);
        }
    }

    /// <summary>Removes the folder that <see cref="Make"/> created, if it is empty.</summary>
    public static void Unmake(string store)
    {
        try
        {
            Directory.Delete(Path.GetDirectoryName(store)!);
        }
        catch (IOException)
        {
            // Another program has created a file there.
        }
    }

    /// <summary>Returns the path of a file in memory that no other process uses.</summary>
    /// <exception cref="ServerException">The system does not allow the removal of a mapped file.</exception>
    public static string Ephemeral()
    {
        if (OperatingSystem.IsWindows())
        {
            throw new ServerException(
                "--ephemeral is not offered on Windows, where a file that is mapped cannot be removed. Name a file with --store FILE, and delete it afterwards.");
        }

        const string SharedMemory = "/dev/shm";
        string folder = Directory.Exists(SharedMemory) ? SharedMemory : Path.GetTempPath();
        return Path.Combine(folder, $"cairn-{Environment.ProcessId}-{Guid.NewGuid():N}.cairn");
    }

    private static string UserFolder()
    {
        string data = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.DoNotVerify);
        return data.Length > 0
            ? Path.Combine(data, FolderName)
            : throw new ServerException(
                "The current user has no data folder for the store (HOME is not set). Name a file with --store FILE, or keep nothing with --ephemeral.");
    }

    private static void MakeFolder(string folder)
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(folder);
        }
        else
        {
            Directory.CreateDirectory(folder, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }
    }
}
