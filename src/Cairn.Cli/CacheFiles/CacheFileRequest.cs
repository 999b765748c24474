using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Cairn.Platform;

namespace Cairn.Cli.CacheFiles;

/// <summary>A request for a readable cache file.</summary>
internal sealed record CacheFileRequest(Invocation Invocation, string Path, string[] Words)
{
    public TimeSpan? TimeToLive { get; init; }

    public bool IsJsonValue { get; init; }

    public bool IsBase64 { get; init; }

    public bool IsAll { get; init; }

    /// <summary>Opens an existing file.</summary>
    public FileEngine OpenExisting()
    {
        RequireFile();
        return Open();
    }

    /// <summary>Opens an existing and valid file. A file that only has a mistake must not look like an empty one.</summary>
    public FileEngine OpenValid()
    {
        FileEngine file = OpenExisting();
        try
        {
            file.RequireValid();
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Opens a file. If it does not exist, the first change creates it.</summary>
    public FileEngine Open() => new(new FileEngineOptions { Path = Path, MaxBytes = long.MaxValue, Clock = Invocation.Console.Clock });

    public void RequireFile()
    {
        if (!File.Exists(Path))
        {
            throw new ToolException(ExitCode.File, $"there is no cache file '{Path}'");
        }

        if (HostPlatform.Current.IsSpecialFile(Path))
        {
            throw new ToolException(ExitCode.File, $"'{Path}' is not a file but a device, pipe or socket");
        }
    }

    public void RequireWords(int count, string what)
    {
        if (Words.Length != count)
        {
            throw ToolException.Usage($"{what}, not {Words.Length} words after the file");
        }
    }

    public static EntryChange Removal(string key) => new(new Entry(key, value: null));
}
