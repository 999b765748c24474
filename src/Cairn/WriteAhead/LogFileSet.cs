using Cairn.Platform;

namespace Cairn.WriteAhead;

/// <summary>One file of records, as its header describes it.</summary>
internal sealed record LogFileInfo(string Path, LogFileHeader Header);

/// <summary>The files beside a store that its log and its snapshot are in.</summary>
/// <param name="Files">The pieces of the log, oldest first.</param>
/// <param name="Snapshot">The newest snapshot; null if there is none.</param>
internal sealed record LogFileSet(IReadOnlyList<LogFileInfo> Files, LogFileInfo? Snapshot)
{
    public IEnumerable<LogFileInfo> All => Snapshot is null ? Files : Files.Append(Snapshot);

    public bool IsEmpty => Files.Count == 0 && Snapshot is null;

    /// <summary>The position from which the log is needed.</summary>
    public long Start => Snapshot?.Header.StartPosition ?? LogPath.FirstPosition;

    public long HighestSequence => Files.Count == 0 ? 0 : Files[^1].Header.Sequence;

    /// <summary>Whether the pieces follow each other, the first of them from where the snapshot needs them, as far as their headers tell.</summary>
    public bool IsUnbroken
    {
        get
        {
            IReadOnlyList<LogFileInfo> needed = From(Start);
            return needed.Count > 0 && needed[0].Header.StartPosition <= Start
                && needed[^1].Header.Sequence - needed[0].Header.Sequence == needed.Count - 1;
        }
    }

    /// <summary>The names of all of them, for a message; those that are there now, without looking into them.</summary>
    public static IReadOnlyList<string> Names(StorePlatform platform, string storePath)
    {
        string directory = Path.GetDirectoryName(storePath)!;
        return
        [
            .. platform.ListNames(directory, Path.GetFileName(LogPath.Snapshot(storePath))).Where(name => Path.Combine(directory, name) == LogPath.Snapshot(storePath)),
            .. platform.ListNames(directory, LogPath.LogPrefix(storePath)).Where(name => LogPath.TryParse(storePath, name, out _)).Order(StringComparer.Ordinal),
        ];
    }

    /// <summary>Reads the headers of all of them. Nobody deletes any meanwhile.</summary>
    /// <exception cref="StoreCorruptException">A header is damaged, or the files are not those of one log.</exception>
    public static LogFileSet Find(StorePlatform platform, string storePath)
    {
        string directory = Path.GetDirectoryName(storePath)!;
        LogFileInfo? snapshot = null;
        var files = new List<LogFileInfo>();
        foreach (string name in Names(platform, storePath))
        {
            string path = Path.Combine(directory, name);
            bool isPiece = LogPath.TryParse(storePath, name, out long sequence);
            LogFileHeader header = ReadHeader(platform, path, isPiece ? LogFileKind.Log : LogFileKind.Snapshot);
            if (!isPiece)
            {
                snapshot = new LogFileInfo(path, header);
            }
            else
            {
                Require(path, 32, sequence, header.Sequence, "the number in the file's name");
                files.Add(new LogFileInfo(path, header));
            }
        }

        files.Sort((left, right) => left.Header.Sequence.CompareTo(right.Header.Sequence));
        return new LogFileSet(files, snapshot);
    }

    /// <summary>The pieces that have anything from a position on.</summary>
    public IReadOnlyList<LogFileInfo> From(long position)
    {
        int first = Files.Count - 1;
        while (first > 0 && Files[first].Header.StartPosition > position)
        {
            first--;
        }

        return [.. Files.Skip(Math.Max(first, 0))];
    }

    public static LogReader Open(StorePlatform platform, LogFileInfo info)
    {
        return LogReader.TryOpen(platform.OpenReadOnly(info.Path), ownsFile: true)
            ?? throw new StoreCorruptException(info.Path, 0, "the header of a file of records", "damage");
    }

    private static LogFileHeader ReadHeader(StorePlatform platform, string path, LogFileKind kind)
    {
        using LogReader? reader = LogReader.TryOpen(platform.OpenReadOnly(path), ownsFile: true);
        if (reader is null)
        {
            throw new StoreCorruptException(path, 0, "the header of a file of records", "something else");
        }

        if (reader.Header.FormatVersion != LogFileHeader.CurrentVersion)
        {
            throw new StoreVersionException(path, reader.Header.FormatVersion, LogFileHeader.CurrentVersion);
        }

        Require(path, 12, (long)kind, (long)reader.Header.Kind, "the kind that its name says");
        return reader.Header;
    }

    private static void Require(string path, long offset, long expected, long found, string what)
    {
        if (found != expected)
        {
            throw new StoreCorruptException(path, offset, $"{what}, {expected}", $"{found}");
        }
    }
}
