// All differences between operating systems are behind three types: StorePlatform, StoreFile and MappedRegion. The rest of the store uses only these. No
// type, constant or error number of a particular system passes through them. The folders Linux, Windows and MacOs each derive the three types.
// SystemFile and SystemRegion have what all of them do in the same way. HostPlatform chooses one of them once.
//
// A platform promises the store:
//   P1  A byte lock is exclusive between open files, even between two StoreFiles of one process. The kernel releases it when its open file is closed,
//       however its process ends. It proves that the owner of a slot is alive.
//   P2  A preallocated byte can be written through a mapping without a failure for lack of space. (File systems that copy on write, such as Btrfs
//       and ZFS, cannot promise it.)
//   P3  A file gets its name in one step, when it is complete, or not at all.
//   P4  All mappings of a file on one machine show the same bytes.
//   P5  When StoreFile.FlushData has returned, the bytes and the length are durable. When FlushDirectory has returned, the creation or removal of a name
//       is durable. After a loss of power, any part of the data that was not flushed can be on the disk, independent of the order of the writes.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform;

internal abstract class StorePlatform
{
    private static readonly AsyncLocal<string?> BootIdHook = new();
    private static readonly AsyncLocal<string?> FileSystemKindHook = new();
    private static readonly AsyncLocal<long?> FreeMemoryHook = new();

    /// <summary>Gets or sets the text that replaces <see cref="BootId"/> in the calls of one test. Null for no replacement.</summary>
    internal static string? BootIdOverride
    {
        get => BootIdHook.Value;
        set => BootIdHook.Value = value;
    }

    /// <summary>
    /// Gets or sets the kind of file system as which <see cref="RequireSupportedFileSystem"/> refuses every path in the calls of one test. Null for no
    /// replacement.
    /// </summary>
    internal static string? RefusedFileSystemOverride
    {
        get => FileSystemKindHook.Value;
        set => FileSystemKindHook.Value = value;
    }

    /// <summary>Gets or sets the free memory for files in memory, in bytes, in the calls of one test. Null for no replacement.</summary>
    internal static long? FreeMemoryOverride
    {
        get => FreeMemoryHook.Value;
        set => FreeMemoryHook.Value = value;
    }

    /// <summary>Gets the boot id: 36 characters that change with every start of the machine and never otherwise.</summary>
    public abstract string BootId { get; }

    /// <summary>Gets the size of a page in bytes. It is the unit of mapping.</summary>
    public abstract int PageSize { get; }

    /// <summary>
    /// Gets the maximum memory of this process in bytes: the machine's memory, or less if a container or control group limits it. Null if unknown.
    /// </summary>
    public abstract long? MemoryLimitBytes { get; }

    /// <summary>
    /// Gets the wall clock at the last timer tick, in Unix milliseconds, if the system can tell it faster than the time. Otherwise a time in the far future.
    /// </summary>
    public virtual long TickUnixMs => long.MaxValue / 2;

    /// <summary>Opens an existing file for reading and writing.</summary>
    /// <exception cref="FileNotFoundException">No file has this name.</exception>
    /// <exception cref="UnauthorizedAccessException">This user has no permission.</exception>
    /// <exception cref="StoreException">The path is not a regular file, or its file system is read-only.</exception>
    public abstract StoreFile Open(string path);

    /// <summary>Opens an existing file for reading. Locks and writes are refused.</summary>
    /// <exception cref="FileNotFoundException">No file has this name.</exception>
    /// <exception cref="UnauthorizedAccessException">This user has no permission.</exception>
    /// <exception cref="StoreException">The path is not a regular file.</exception>
    public abstract StoreFile OpenReadOnly(string path);

    /// <summary>Returns whether the path, or the target of a link there, is a device, a pipe or a socket. A rename would replace it by a file.</summary>
    public virtual bool IsSpecialFile(string path) => false;

    /// <summary>
    /// Creates an empty file that has no name until <see cref="StoreFile.TryPublish"/>. Only this user can read and write it. If it is never published,
    /// nothing of it remains, however the process ends.
    /// </summary>
    /// <param name="directory">The directory in which the file will be published. It determines the file system.</param>
    /// <param name="nameHint">
    /// The intended file name. If the system cannot create files without a name, the file gets a hidden name derived from this one. The next creation
    /// deletes the files of dead creators.
    /// </param>
    /// <exception cref="DirectoryNotFoundException"><paramref name="directory"/> does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user has no permission to create files there.</exception>
    /// <exception cref="StoreException">The file system is read-only, full or faulty.</exception>
    public abstract StoreFile CreateUnnamed(string directory, string nameHint);

    /// <summary>
    /// Creates an empty file with a name. Only this user can read and write it. The name is durable when <see cref="FlushDirectory"/> has returned.
    /// </summary>
    /// <returns>The file. Null, with nothing changed, if the name is taken.</returns>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user has no permission to create files there.</exception>
    /// <exception cref="StoreException">The file system is read-only, full or faulty.</exception>
    public abstract StoreFile? TryCreate(string path);

    /// <summary>Removes a file's name. A process that has the file open keeps it open. No effect if the name does not exist.</summary>
    /// <exception cref="UnauthorizedAccessException">This user has no permission.</exception>
    /// <exception cref="StoreException">The file system is read-only or faulty.</exception>
    public abstract void Delete(string path);

    /// <summary>
    /// Returns the names in a directory that begin with <paramref name="prefix"/>, in no particular order. Empty if the directory does not exist.
    /// </summary>
    /// <exception cref="UnauthorizedAccessException">This user has no permission to list the directory.</exception>
    /// <exception cref="StoreException">The file system is faulty.</exception>
    public virtual IReadOnlyList<string> ListNames(string directory, string prefix)
    {
        var all = new EnumerationOptions { AttributesToSkip = FileAttributes.None, MatchType = MatchType.Simple };
        try
        {
            return
            [
                .. Directory.EnumerateFiles(directory, "*", all).Select(path => Path.GetFileName(path))
                    .Where(name => name.StartsWith(prefix, StringComparison.Ordinal)),
            ];
        }
        catch (DirectoryNotFoundException)
        {
            return [];
        }
        catch (IOException failure)
        {
            throw new StoreException($"The files in '{directory}' could not be listed: {failure.Message.TrimEnd('.')}. Check the disk, and the limit of open files.", failure);
        }
    }

    /// <summary>Makes the creation and removal of names in a directory durable (P5).</summary>
    /// <exception cref="StoreException">The disk is faulty.</exception>
    public abstract void FlushDirectory(string directory);

    /// <summary>Gives a complete file its name, and returns when the name is durable. Returns false if another file has the name and stays.</summary>
    /// <param name="file">The file.</param>
    /// <param name="path">The full path.</param>
    /// <param name="replace">Whether to replace an existing file of that name.</param>
    /// <param name="what">The file as the subject of a message: "The backup".</param>
    /// <exception cref="StoreException">
    /// The file cannot get the name. Or the file has its name, but the disk failed to keep it; then the inner exception is that of
    /// <see cref="FlushDirectory"/>.
    /// </exception>
    public bool TryPublish(StoreFile file, string path, bool replace, string what)
    {
        if (!file.TryPublish(path, replace))
        {
            return false;
        }

        try
        {
            FlushDirectory(Path.GetDirectoryName(path)!);
            return true;
        }
        catch (StoreException failure)
        {
            string remedy = replace ? "" : " Use the file, or delete it before you try again.";
            throw new StoreException($"{what} '{path}' is complete and has its name. {failure.Message}{remedy}", failure);
        }
    }

    /// <summary>
    /// Makes the content of a file durable that other code has opened (P5). On Linux, <see cref="RandomAccess.FlushToDisk"/> of .NET 10 returns normally when
    /// the disk reports an error.
    /// </summary>
    /// <param name="file">The open file.</param>
    /// <param name="what">The file in the words of an error message: "the cache file 'x'".</param>
    /// <exception cref="StoreException">The disk is faulty or full. It is not known which part of the content is durable.</exception>
    public virtual void FlushFile(SafeFileHandle file, string what) => RandomAccess.FlushToDisk(file);

    /// <summary>Refuses a path on a file system on which P4 does not hold. The file need not exist, but its directory must.</summary>
    /// <exception cref="StoreUnsupportedFileSystemException">P4 does not hold there.</exception>
    /// <exception cref="DirectoryNotFoundException">Neither the file nor its directory exists.</exception>
    public abstract void RequireSupportedFileSystem(string path);

    /// <summary>Sleeps while the word is <paramref name="expected"/>, until any process wakes the address.</summary>
    /// <returns>
    /// False if the time has passed. True only means that the caller must check again: it was woken or interrupted, or the word had already changed.
    /// </returns>
    /// <remarks>
    /// The word is in a mapped region, 4-byte aligned, and stays mapped meanwhile. If wakes do not reach other processes, the word is polled with short
    /// pauses. Then only a lasting change is certain to be noticed.
    /// </remarks>
    public abstract unsafe bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout);

    /// <summary>Wakes one waiter of the word, or all, in any process. The caller has changed the word before.</summary>
    public abstract unsafe void WakeByAddress(uint* address, bool all);
}
