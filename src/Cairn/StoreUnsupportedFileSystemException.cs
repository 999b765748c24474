namespace Cairn;

/// <summary>
/// The store's path is on a file system on which mapped memory is not coherent: a network file system, or one that a program serves (FUSE). A store there
/// would be damaged silently, so the opening is refused before anything is written.
/// </summary>
public sealed class StoreUnsupportedFileSystemException : StoreException
{
    /// <summary>Creates an exception that reports the path and the kind of its file system.</summary>
    /// <param name="file">The path of the store's file. The file need not exist.</param>
    /// <param name="fileSystem">The kind of the file system, such as <c>NFS</c> or <c>FUSE (fuse.sshfs at /mnt)</c>.</param>
    public StoreUnsupportedFileSystemException(string file, string fileSystem)
        : base(
            $"The store '{file}' would be on {fileSystem}. Processes share a store through mapped memory, and on a " +
            "network or FUSE-like file system mapped memory is not coherent between machines (or between the program " +
            "that serves it and its users): the store would be damaged silently. Put the file on a local disk or, to " +
            "keep it in memory only, in /dev/shm; to share a cache between machines, use a cache server.")
    {
        File = file;
        FileSystem = fileSystem;
    }

    /// <summary>Gets the path of the store's file. The file need not exist.</summary>
    public string File { get; }

    /// <summary>Gets the kind of the file system that was refused.</summary>
    public string FileSystem { get; }
}
