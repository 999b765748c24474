using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Tests;

/// <summary>A cache file for one test, and the caches that the test opens on it. Disposal closes the caches and deletes the directory.</summary>
internal sealed class CacheFile : IDisposable
{
    private readonly TestDirectory _directory;
    private readonly List<IDisposable> _opened = [];

    /// <summary>Creates the directory: below <paramref name="parent"/>, or in memory if the system has /dev/shm.</summary>
    public CacheFile(string? parent = null) => _directory = new(parent ?? TestDirectory.OfMemory);

    public string DirectoryPath => _directory.Path;

    public string FilePath => _directory["FileStoreCacheFile.Test.json"];

    public string SidePath => FilePath + ".sync";

    public string Text
    {
        get => File.ReadAllText(FilePath);
        set => File.WriteAllText(FilePath, value);
    }

    public IEnumerable<string> FileNames => _directory.FileNames;

    /// <summary>Returns options for this file. The cache checks for changes every 5 ms, so that no test waits for a check.</summary>
    public static DistributedFileStoreCacheOptions Options(string directory, Action<DistributedFileStoreCacheOptions>? configure = null)
    {
        var options = new DistributedFileStoreCacheOptions
        {
            PathToCacheFileDirectory = directory,
            SecondPartOfCacheFileName = "Test",
            ChangePollInterval = TimeSpan.FromMilliseconds(5),
            NumTriesOnUnauthorizedAccess = 3,
        };
        configure?.Invoke(options);
        return options;
    }

    public static DistributedCacheEntryOptions For(TimeSpan time) => new() { AbsoluteExpirationRelativeToNow = time };

    public DistributedFileStoreCacheString Open(Action<DistributedFileStoreCacheOptions>? configure = null) =>
        Keep(new DistributedFileStoreCacheString(Options(DirectoryPath, configure)));

    public DistributedFileStoreCacheClass OpenClass(Action<DistributedFileStoreCacheOptions>? configure = null) =>
        Keep(new DistributedFileStoreCacheClass(Options(DirectoryPath, configure)));

    public DistributedFileStoreCacheBytes OpenBytes(Action<DistributedFileStoreCacheOptions>? configure = null) =>
        Keep(new DistributedFileStoreCacheBytes(Options(DirectoryPath, configure)));

    /// <summary>Writes the whole file in place, as some editors do.</summary>
    public void Overwrite(string text)
    {
        using FileStream stream = File.Open(FilePath, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        stream.SetLength(0);
        stream.Write(System.Text.Encoding.UTF8.GetBytes(text));
    }

    /// <summary>Writes another file and renames it over this one, as other editors do.</summary>
    public void Replace(string text)
    {
        string other = FilePath + ".edited";
        File.WriteAllText(other, text);
        File.Move(other, FilePath, overwrite: true);
    }

    public void Dispose()
    {
        foreach (IDisposable opened in _opened)
        {
            opened.Dispose();
        }

        _directory.Dispose();
    }

    private T Keep<T>(T opened)
        where T : IDisposable
    {
        _opened.Add(opened);
        return opened;
    }
}
