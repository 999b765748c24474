namespace Cairn.Cli.Tests.Serving;

/// <summary>Waits for a state that is visible only in a file.</summary>
internal static class FileWait
{
    private const int LookMs = 100;

    public static void UntilItExists(string path)
    {
        using var watcher = new FileSystemWatcher(Path.GetDirectoryName(path)!, Path.GetFileName(path)) { EnableRaisingEvents = true };
        while (!File.Exists(path))
        {
            watcher.WaitForChanged(WatcherChangeTypes.Created, LookMs);
        }
    }
}
