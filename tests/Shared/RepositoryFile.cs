namespace Cairn.Testing;

/// <summary>Files of the repository that tests hold to the code, or run.</summary>
internal static class RepositoryFile
{
    /// <summary>The clone that these tests were built in.</summary>
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
