namespace Cairn.Caching.Stores;

/// <summary>The location of an application's store file if the options name none.</summary>
internal static class DefaultStoreFile
{
    private const string FolderName = "cairn";
    private const string Extension = ".cairn";

    // systemd sets this variable for a unit with StateDirectory=; several directories are separated by colons.
    private const string StateDirectoryVariable = "STATE_DIRECTORY";

    /// <summary>Returns the file of an application. Creates its folder if needed, for the current user alone.</summary>
    /// <exception cref="StoreException">The folder does not exist and cannot be created.</exception>
    public static string Path(string application, Func<string, string?> environment)
    {
        string? state = environment(StateDirectoryVariable)?.Split(':')[0];
        string folder = string.IsNullOrEmpty(state) ? UserFolder() : state;
        try
        {
            MakeFolder(folder);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StoreException($"The folder '{folder}' for the cache's store cannot be made: {e.Message} Set Path to a file elsewhere.", e);
        }

        return System.IO.Path.Combine(folder, FileName(application));
    }

    private static string FileName(string application)
    {
        char[] invalid = System.IO.Path.GetInvalidFileNameChars();
        string name = string.Concat(application.Select(character => invalid.Contains(character) ? '-' : character)).TrimStart('.');
        return (name.Length > 0 ? name : "application") + Extension;
    }

    private static string UserFolder()
    {
        string data = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData, Environment.SpecialFolderOption.DoNotVerify);
        return data.Length > 0
            ? System.IO.Path.Combine(data, FolderName)
            : throw new StoreException("The current user has no data folder for the cache's store (HOME is not set). Set Path to a file.");
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
