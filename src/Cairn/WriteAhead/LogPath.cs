namespace Cairn.WriteAhead;

/// <summary>The names of a store's log files. They are in the directory of the store.</summary>
internal static class LogPath
{
    /// <summary>The position of the first record of a log. A position is never 0, because 0 means none.</summary>
    public const long FirstPosition = 4096;

    public const long FirstSequence = 1;

    private const string LogMark = ".log-";
    private const string SnapshotMark = ".snapshot";
    private const int SequenceDigits = 10;

    public static string LogFile(string storePath, long sequence) =>
        storePath + LogMark + sequence.ToString("D" + SequenceDigits.ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);

    public static string Snapshot(string storePath) => storePath + SnapshotMark;

    /// <summary>Returns the beginning of the names of a store's log files, without their directory.</summary>
    public static string LogPrefix(string storePath) => Path.GetFileName(storePath) + LogMark;

    /// <summary>Returns whether a name belongs to a log file of the store, and the number of that file.</summary>
    public static bool TryParse(string storePath, string path, out long sequence)
    {
        string name = Path.GetFileName(path);
        string prefix = LogPrefix(storePath);
        if (name.StartsWith(prefix, StringComparison.Ordinal)
            && long.TryParse(name.AsSpan(prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out sequence)
            && sequence >= FirstSequence
            && name == Path.GetFileName(LogFile(storePath, sequence)))
        {
            return true;
        }

        sequence = 0;
        return false;
    }

    /// <summary>
    /// Returns the path of the store to which a snapshot or a piece of a log belongs, from its name. Null if the name belongs to neither.
    /// </summary>
    public static string? StoreOf(string path)
    {
        int mark = path.LastIndexOf(LogMark, StringComparison.Ordinal);
        return path.EndsWith(SnapshotMark, StringComparison.Ordinal) ? path[..^SnapshotMark.Length]
            : mark > 0 && TryParse(path[..mark], path, out _) ? path[..mark]
            : null;
    }
}
