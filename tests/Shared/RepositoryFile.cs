namespace Cairn.Testing;

/// <summary>Finds files of the repository that tests compare with the code, or run.</summary>
internal static class RepositoryFile
{
    /// <summary>Gets the root of the clone in which these tests were built.</summary>
    public static string Root { get; } = FindRoot();

    public static string At(params ReadOnlySpan<string> parts) => Path.Combine([Root, .. parts]);

    private static string FindRoot()
    {
        for (string? directory = AppContext.BaseDirectory; directory is not null; directory = Path.GetDirectoryName(directory))
        {
            if (File.Exists(Path.Combine(directory, "Cairn.slnx")))
            {
                return directory;
            }
        }

        throw new InvalidOperationException($"No Cairn.slnx above {AppContext.BaseDirectory}.");
    }
}
