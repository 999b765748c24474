using Cairn.Messages;

namespace Cairn.Platform;

/// <summary>Creates exceptions for problems with a path, the same on all systems.</summary>
internal static class FileFailures
{
    public static Exception NotFound(string path)
    {
        if (new FileInfo(path) is { LinkTarget: { } target })
        {
            // A creation would also fail, with "the name is taken". This message names the cause.
            return new StoreException(
                $"The path '{path}' is a symbolic link to '{target}', which does not exist. Remove the link, or use " +
                "the file's own path.");
        }

        return Directory.Exists(Path.GetDirectoryName(path))
            ? new FileNotFoundException($"The store '{path}' does not exist.", path)
            : new FileNotFoundException($"The store '{path}' does not exist, and neither does its directory.", path);
    }

    public static DirectoryNotFoundException NoDirectoryFor(string path) => new(
        $"The store '{path}' cannot be created because its directory does not exist. Create the directory " +
        "first, or correct the path.");

    public static UnauthorizedAccessException MayNotOpen(string path, bool forWriting) => new(
        $"The user '{Environment.UserName}' may not open the store '{path}' for {(forWriting ? "reading and writing" : "reading")}. Stores are created " +
        "for their owner only; run as that user, or give this one permission on the file and its directory.");

    public static UnauthorizedAccessException MayNotCreate(string path) => new(
        $"The user '{Environment.UserName}' may not create the store '{path}'. Give this user permission to " +
        "write to the directory, or choose another.");

    public static StoreException NoQuotaFor(string path) => new(
        $"The store '{path}' cannot be created because this user's disk quota is exhausted. Raise it, delete some files, or choose another place.");

    public static StoreException OnAnotherFileSystem(string path) => new(
        $"The store '{path}' cannot get its name: it was prepared on another file system. The directory was mounted over meanwhile; try again.");

    /// <summary>Creates the exception for a creation, or for a new name of a complete file, that failed for another reason.</summary>
    /// <param name="path">The path.</param>
    /// <param name="why">The text of the system's error.</param>
    public static StoreException NotCreated(string path, string why) =>
        new($"The store '{path}' could not be created: {why}. Check the disk, or choose another place.");

    public static UnauthorizedAccessException MayNotDelete(string path) => new(
        $"The user '{Environment.UserName}' may not delete '{path}'. Give this user permission to write to its directory.");

    public static StoreException IsADirectory(string path) =>
        new($"The path '{path}' is a directory. A store is one file: name a file inside it.");

    public static StoreException NotARegularFile(string path) =>
        new($"The path '{path}' is not a regular file but a device, pipe or socket. Name a file.");

    public static StoreException OpenedForReading(string path) =>
        new($"The store '{path}' was opened for reading only; its locks need it writable.");

    public static StoreException Full(string path, long bytesNeeded, long? bytesAvailable)
    {
        string available = bytesAvailable is { } bytes ? $" ({ByteText.Of(bytes)} are available)" : "";
        return new StoreException(
            $"The store '{path}' needs {ByteText.Of(bytesNeeded)}, but its file system is full{available}. Free some space, choose a smaller capacity, or put " +
            "the store elsewhere.");
    }

    /// <summary>Creates the exception for a flush that failed, so that P5 does not hold.</summary>
    /// <param name="what">"the store 'x'" or a part of it.</param>
    /// <param name="why">The text of the system's error.</param>
    public static StoreException NotFlushed(string what, string why) => new(
        $"Writing {what} to disk failed; its last changes may be lost if the machine stops. Check the disk: {why}.");
}
