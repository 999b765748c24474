// Everything that differs between operating systems, behind three types: StorePlatform, StoreFile and MappedRegion.
// The rest of the store uses only these; no type, constant or error number of one system passes through them.
// The folders Linux, Windows and MacOs derive the three, each by itself; HostPlatform chooses once.
//
// What a platform promises the store:
//   P1  A byte lock is exclusive between open files (two StoreFiles of one process included), and the kernel releases
//       it when its open file is closed, however its process ends. It is the proof of life of an owner slot.
//   P2  A byte that was preallocated can be written through a mapping without failing for lack of space. (File
//       systems that copy on write, such as Btrfs and ZFS, cannot promise it.)
//   P3  A file gets its name in one step, complete, or not at all.
//   P4  All mappings of a file on one machine show the same bytes.
//   P5  What StoreFile.FlushData returned for is on the disk, bytes and length; a name, given or taken away, once FlushDirectory has
//       returned. What was not flushed may be there after a power loss, in any part and order, or not.

namespace Cairn.Platform;

internal abstract class StorePlatform
{
    private static readonly AsyncLocal<string?> BootIdHook = new();
    private static readonly AsyncLocal<string?> FileSystemKindHook = new();
    private static readonly AsyncLocal<long?> FreeMemoryHook = new();

    /// <summary>What <see cref="BootId"/> says instead of the truth, for what this test calls; null for the truth.</summary>
    internal static string? BootIdOverride
    {
        get => BootIdHook.Value;
        set => BootIdHook.Value = value;
    }

    /// <summary>A kind that <see cref="RequireSupportedFileSystem"/> refuses every path as, for what this test calls;
    /// null for the truth.</summary>
    internal static string? RefusedFileSystemOverride
    {
        get => FileSystemKindHook.Value;
        set => FileSystemKindHook.Value = value;
    }

    /// <summary>How much memory is free for files in memory, for what this test calls; null for the truth.</summary>
    internal static long? FreeMemoryOverride
    {
        get => FreeMemoryHook.Value;
        set => FreeMemoryHook.Value = value;
    }

    /// <summary>36 characters that change with every start of the machine and never otherwise.</summary>
    public abstract string BootId { get; }

    /// <summary>Bytes of a page: the unit of mapping.</summary>
    public abstract int PageSize { get; }

    /// <summary>The memory this process can have at most: the machine's, or less if its container or control group
    /// says so. Null if unknown.</summary>
    public abstract long? MemoryLimitBytes { get; }

    /// <summary>Opens an existing file for reading and writing.</summary>
    /// <exception cref="FileNotFoundException">Nothing has this name.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not.</exception>
    /// <exception cref="StoreException">It is not a regular file, or its file system is read-only.</exception>
    public abstract StoreFile Open(string path);

    /// <summary>Opens an existing file for reading; locks and writes are refused.</summary>
    /// <exception cref="FileNotFoundException">Nothing has this name.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not.</exception>
    /// <exception cref="StoreException">It is not a regular file.</exception>
    public abstract StoreFile OpenReadOnly(string path);

    /// <summary>Creates an empty file that has no name until <see cref="StoreFile.TryPublish"/>, readable and writable
    /// by this user only. If it is never published, nothing of it remains, however the process ends.</summary>
    /// <param name="directory">Where the file's space comes from, and where it will be published.</param>
    /// <param name="nameHint">The file name it is for. Where a file cannot be nameless, it has a hidden name made from
    /// this one, and the next creation reaps what a dead creator left.</param>
    /// <exception cref="DirectoryNotFoundException"><paramref name="directory"/> does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not create files there.</exception>
    /// <exception cref="StoreException">The file system is read-only, full or faulty.</exception>
    public abstract StoreFile CreateUnnamed(string directory, string nameHint);

    /// <summary>Creates an empty file with a name, readable and writable by this user only. The name survives a power loss once
    /// <see cref="FlushDirectory"/> has returned.</summary>
    /// <returns>Null, with nothing changed, if the name is taken.</returns>
    /// <exception cref="DirectoryNotFoundException">Its directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not create files there.</exception>
    /// <exception cref="StoreException">The file system is read-only, full or faulty.</exception>
    public abstract StoreFile? TryCreate(string path);

    /// <summary>Takes a file's name away; who has it open keeps it. Nothing happens if there is no such name.</summary>
    /// <exception cref="UnauthorizedAccessException">This user may not.</exception>
    /// <exception cref="StoreException">The file system is read-only or faulty.</exception>
    public abstract void Delete(string path);

    /// <summary>The names in a directory that begin with <paramref name="prefix"/>, in no order; none if there is no such directory.</summary>
    /// <exception cref="UnauthorizedAccessException">This user may not list it.</exception>
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
            throw new StoreException($"The files in '{directory}' could not be listed: {failure.Message}", failure);
        }
    }

    /// <summary>Returns when the names that were given and taken away in a directory would survive a power loss (P5).</summary>
    /// <exception cref="StoreException">The disk is faulty.</exception>
    public abstract void FlushDirectory(string directory);

    /// <summary>Refuses a path on a file system where P4 does not hold. The file need not exist; its directory must.</summary>
    /// <exception cref="StoreUnsupportedFileSystemException">It does not hold there.</exception>
    /// <exception cref="DirectoryNotFoundException">Neither the file nor its directory exists.</exception>
    public abstract void RequireSupportedFileSystem(string path);

    /// <summary>Sleeps while the word is <paramref name="expected"/>, until any process wakes the address.</summary>
    /// <returns>False if the time passed. True says only "look again": woken, changed already, or interrupted.</returns>
    /// <remarks>
    /// The word lies in a mapped region, 4-byte aligned, and stays mapped meanwhile. Where a wake does not cross processes, the word is looked
    /// at in short pauses, so there only a change that lasts is sure to be noticed.
    /// </remarks>
    public abstract unsafe bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout);

    /// <summary>Wakes one waiter of the word, or all, in any process. The caller has changed the word before.</summary>
    public abstract unsafe void WakeByAddress(uint* address, bool all);
}
