using Cairn.Platform;

namespace Cairn.WriteAhead;

/// <summary>One file of records: its header and its length in bytes.</summary>
internal sealed record LogFileInfo(string Path, LogFileHeader Header, long Length)
{
    /// <summary>Gets whether the file is shorter than it was when it was created.</summary>
    public bool IsCut => Length < Header.FileBytes;
}

/// <summary>The files of a store's log and snapshot. They are in the directory of the store.</summary>
/// <param name="Files">The pieces of the log, oldest first.</param>
/// <param name="Snapshot">The newest snapshot. Null if there is none.</param>
/// <param name="StorePath">The path of the store's file, which need not exist.</param>
internal sealed record LogFileSet(IReadOnlyList<LogFileInfo> Files, LogFileInfo? Snapshot, string StorePath)
{
    public IEnumerable<LogFileInfo> All => Snapshot is null ? Files : Files.Append(Snapshot);

    public bool IsEmpty => Files.Count == 0 && Snapshot is null;

    /// <summary>Gets the position from which the log is needed.</summary>
    public long Start => Snapshot?.Header.StartPosition ?? LogPath.FirstPosition;

    public long HighestSequence => Files.Count == 0 ? 0 : Files[^1].Header.Sequence;

    /// <summary>
    /// Gets whether the headers show a complete log: the pieces follow each other without a gap, the first needed one begins at or before
    /// <see cref="Start"/>, and none is cut.
    /// </summary>
    public bool IsUnbroken
    {
        get
        {
            IReadOnlyList<LogFileInfo> needed = From(Start);
            return needed.Count > 0 && needed[0].Header.StartPosition <= Start
                && needed[^1].Header.Sequence - needed[0].Header.Sequence == needed.Count - 1
                && !needed.Any(piece => piece.IsCut);
        }
    }

    /// <summary>Reports each file that is missing although it must exist, and each file that is shorter than it was.</summary>
    /// <param name="promise">The promise in the store's file.</param>
    /// <param name="onDamage">Called with each damage. Null throws the first.</param>
    /// <param name="isWritten">True if the log is being written. Then a seal can name a piece that was created after these files were found.</param>
    public void RequireComplete(LogPromise promise, Action<StoreCorruptException>? onDamage, bool isWritten = false)
    {
        if (Start < promise.SnapshotStart)
        {
            StoreCorruptException.Report(
                Snapshot is null
                    ? Missing(LogPath.Snapshot(StorePath))
                    : StoreCorruptException.Log(
                        Snapshot.Path, 40, $"a snapshot that the log completes from position {promise.SnapshotStart:N0} on, or a newer one", $"position {Start:N0}"),
                onDamage);
        }

        IReadOnlyList<LogFileInfo> needed = From(Start);
        long highest = Math.Max(promise.Sequence, Files.Count == 0 || isWritten ? 0 : Files.Max(piece => piece.Header.SealedNext));
        if (needed.Count == 0 && promise.Durable > Start)
        {
            highest = Math.Max(highest, LogPath.FirstSequence);
        }

        long next = needed.Count == 0 ? highest : needed[0].Header.StartPosition > Start ? needed[0].Header.Sequence - 1 : needed[0].Header.Sequence;
        foreach (LogFileInfo piece in needed)
        {
            ReportMissing(next, piece.Header.Sequence, onDamage);
            next = piece.Header.Sequence + 1;
            if (piece.IsCut)
            {
                StoreCorruptException.Report(
                    StoreCorruptException.Log(piece.Path, piece.Length, $"a file of {piece.Header.FileBytes:N0} bytes", $"{piece.Length:N0} bytes"), onDamage);
            }
        }

        ReportMissing(Math.Max(next, LogPath.FirstSequence), highest + 1, onDamage);
    }

    /// <summary>Returns the names of all files that exist now, those of the log in ascending order at the end. It does not read the files.</summary>
    public static IReadOnlyList<string> Names(StorePlatform platform, string storePath)
    {
        string directory = Path.GetDirectoryName(storePath)!;
        return
        [
            .. platform.ListNames(directory, Path.GetFileName(LogPath.Snapshot(storePath))).Where(name => Path.Combine(directory, name) == LogPath.Snapshot(storePath)),
            .. platform.ListNames(directory, LogPath.LogPrefix(storePath)).Where(name => LogPath.TryParse(storePath, name, out _)).Order(StringComparer.Ordinal),
        ];
    }

    /// <summary>Reads the headers of all files. The caller ensures that no file is deleted meanwhile.</summary>
    /// <param name="platform">The platform of the files.</param>
    /// <param name="storePath">The store's file.</param>
    /// <param name="onDamage">Called with each file whose header is damaged. Such a file is left out. Null throws the first damage.</param>
    /// <exception cref="StoreCorruptException">A header is damaged, or the files do not belong to one log.</exception>
    public static LogFileSet Find(StorePlatform platform, string storePath, Action<StoreCorruptException>? onDamage = null)
    {
        string directory = Path.GetDirectoryName(storePath)!;
        LogFileInfo? snapshot = null;
        var files = new List<LogFileInfo>();
        foreach (string name in Names(platform, storePath))
        {
            string path = Path.Combine(directory, name);
            bool isPiece = LogPath.TryParse(storePath, name, out long sequence);
            try
            {
                LogFileInfo info = ReadHeader(platform, path, isPiece ? LogFileKind.Log : LogFileKind.Snapshot);
                if (!isPiece)
                {
                    snapshot = info;
                }
                else
                {
                    Require(path, 32, sequence, info.Header.Sequence, "the number in the file's name");
                    files.Add(info);
                }
            }
            catch (StoreCorruptException damage) when (onDamage is not null)
            {
                onDamage(damage);
            }
        }

        files.Sort((left, right) => left.Header.Sequence.CompareTo(right.Header.Sequence));
        return new LogFileSet(files, snapshot, storePath);
    }

    /// <summary>Returns the pieces that contain records at or after a position.</summary>
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
            ?? throw StoreCorruptException.Log(info.Path, 0, "the header of a file of records", "damage");
    }

    /// <summary>Reads the header of a file of records. Returns null if the file has no valid header.</summary>
    /// <exception cref="StoreVersionException">The version of the file is not known.</exception>
    public static LogFileInfo? TryReadHeader(StorePlatform platform, string path)
    {
        StoreFile file = platform.OpenReadOnly(path);
        using LogReader? reader = LogReader.TryOpen(file, ownsFile: true);
        if (reader is null)
        {
            return null;
        }

        uint newest = reader.Header.Kind == LogFileKind.Log ? LogFileHeader.CurrentVersion : LogFileHeader.FirstVersion;
        return reader.Header.FormatVersion is >= LogFileHeader.FirstVersion and var version && version <= newest
            ? new LogFileInfo(path, reader.Header, file.Length)
            : throw new StoreVersionException(path, reader.Header.FormatVersion, newest);
    }

    private static LogFileInfo ReadHeader(StorePlatform platform, string path, LogFileKind kind)
    {
        LogFileInfo info = TryReadHeader(platform, path)
            ?? throw StoreCorruptException.Log(path, 0, "the header of a file of records", "none that is whole");
        Require(path, 12, (long)kind, (long)info.Header.Kind, "the kind that its name says");
        return info;
    }

    private static void Require(string path, long offset, long expected, long found, string what)
    {
        if (found != expected)
        {
            throw StoreCorruptException.Log(path, offset, $"{what}, {expected}", $"{found}");
        }
    }

    private void ReportMissing(long first, long end, Action<StoreCorruptException>? onDamage)
    {
        if (first < end)
        {
            StoreCorruptException.Report(Missing(LogPath.LogFile(StorePath, first)), onDamage);
        }
    }

    private StoreCorruptException Missing(string path) => StoreCorruptException.MissingLog(path, StorePath, All.FirstOrDefault()?.Path);
}
