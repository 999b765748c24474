namespace Cairn;

/// <summary>The store's path is on a file system where mapped memory is not coherent: a network file system or one
/// served by a program (FUSE). A store there would be damaged silently, so it is refused before anything is
/// written.</summary>
public sealed class StoreUnsupportedFileSystemException : StoreException
{
    /// <summary>Reports the path and the kind of file system it is on.</summary>
    /// <param name="file">Path of the store's file, which need not exist.</param>
    /// <param name="fileSystem">Kind of the file system, such as <c>NFS</c> or <c>FUSE (fuse.sshfs at /mnt)</c>.</param>
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

    /// <summary>Path of the store's file, which need not exist.</summary>
    public string File { get; }

    /// <summary>Kind of the file system that was refused.</summary>
    public string FileSystem { get; }
}
