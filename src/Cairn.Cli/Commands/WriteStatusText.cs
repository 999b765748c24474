namespace Cairn.Cli.Commands;

/// <summary>Describes a failed write for scripts and for people.</summary>
internal static class WriteStatusText
{
    /// <summary>Returns the name of a status in JSON.</summary>
    public static string Name(WriteStatus status) => status switch
    {
        WriteStatus.Stored => "stored",
        WriteStatus.Exists => "exists",
        WriteStatus.NotFound => "notFound",
        WriteStatus.VersionMismatch => "versionMismatch",
        WriteStatus.TooLarge => "tooLarge",
        WriteStatus.NoRoom => "noRoom",
        _ => "busy",
    };

    public static string Reason(WriteStatus status, string key) => status switch
    {
        WriteStatus.Exists => $"{key} has a value already",
        WriteStatus.NotFound => $"{key} has no value",
        WriteStatus.VersionMismatch => $"{key} was written since that version",
        WriteStatus.NoRoom => $"{key} could not be stored: readers pin everything that could make room, or a stopped process holds the lock",
        _ => $"{key} could not be written: a stopped process holds the lock; continue or end it",
    };

    public static int ExitCodeOf(WriteStatus status) => status switch
    {
        WriteStatus.Stored => ExitCode.Done,
        WriteStatus.Exists or WriteStatus.NotFound or WriteStatus.VersionMismatch => ExitCode.No,
        _ => ExitCode.Store,
    };
}
