using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Linux;

/// <summary>Linux on x64 and arm64: mmap, open-file-description locks, futexes, fallocate, O_TMPFILE.</summary>
internal sealed class LinuxPlatform : StorePlatform
{
    private const uint OwnerOnly = 0b110_000_000; // rw-------

    // A failure is not kept. It can be temporary, such as too many open files, and every store of the process needs this value.
    private readonly Lazy<string> _bootId;

    public LinuxPlatform()
        : this("/proc/sys/kernel/random/boot_id")
    {
    }

    /// <summary>Creates a platform that reads the boot id from a file of a test.</summary>
    internal LinuxPlatform(string bootIdSource)
    {
        _bootId = new Lazy<string>(() => ReadBootId(bootIdSource), LazyThreadSafetyMode.PublicationOnly);
        if (!LinuxNative.IsSupportedArchitecture)
        {
            throw new PlatformNotSupportedException(
                $"Cairn's store runs on x64 and arm64; this process is {RuntimeInformation.ProcessArchitecture}.");
        }
    }

    public override string BootId => BootIdOverride ?? _bootId.Value;

    public override int PageSize => Environment.SystemPageSize;

    public override long? MemoryLimitBytes => LinuxMemoryLimit.Find("/");

    public override unsafe long TickUnixMs
    {
        get
        {
            LinuxNative.Timespec time;
            return LinuxNative.GetTime(LinuxNative.ClockRealtimeCoarse, &time) == 0
                ? (time.Seconds * 1000) + (time.Nanoseconds / 1_000_000)
                : base.TickUnixMs;
        }
    }

    public override StoreFile Open(string path) => OpenExisting(Path.GetFullPath(path), isWritable: true);

    public override StoreFile OpenReadOnly(string path) => OpenExisting(Path.GetFullPath(path), isWritable: false);

    public override bool IsSpecialFile(string path) =>
        LinuxNative.StatPath(Path.GetFullPath(path), flags: 0, out LinuxNative.FileStatus status) == 0
        && (status.Mode & LinuxNative.FileTypeMask) is not (LinuxNative.RegularFile or LinuxNative.Directory);

    public override StoreFile CreateUnnamed(string directory, string nameHint)
    {
        directory = Path.GetFullPath(directory);
        ReapAbandoned(directory, nameHint);

        int error = TryOpen(directory, LinuxNative.UnnamedFile | LinuxNative.ReadWrite, out SafeFileHandle handle);
        if (error == 0)
        {
            return new LinuxStoreFile(handle, Path.Combine(directory, nameHint), isPublished: false);
        }

        // Not every file system supports files without names. Older versions of Linux read these flags as "open a directory".
        return error is LinuxErrors.NotSupported or LinuxErrors.IsDirectory or LinuxErrors.Invalid
            ? CreateTemporarilyNamed(directory, nameHint)
            : throw LinuxErrors.CreateIn(directory, nameHint, error);
    }

    public override StoreFile? TryCreate(string path)
    {
        path = Path.GetFullPath(path);
        const int Flags = LinuxNative.ReadWrite | LinuxNative.Create | LinuxNative.Exclusive | LinuxNative.NonBlocking;
        int error = TryOpen(path, Flags | LinuxNative.NoFollow, out SafeFileHandle handle);
        return error switch
        {
            0 => new LinuxStoreFile(handle, path, isPublished: true),
            LinuxErrors.Exists => null,
            _ => throw LinuxErrors.CreateIn(Path.GetDirectoryName(path) ?? "/", Path.GetFileName(path), error),
        };
    }

    public override void Delete(string path)
    {
        path = Path.GetFullPath(path);
        if (LinuxNative.Unlink(path) == 0)
        {
            return;
        }

        int error = LinuxNative.LastError;
        if (error is not (LinuxErrors.NoEntry or LinuxErrors.NotDirectory))
        {
            throw LinuxErrors.Delete(path, error);
        }
    }

    public override void FlushDirectory(string directory)
    {
        directory = Path.GetFullPath(directory);
        int error = TryOpen(directory, LinuxNative.ReadOnly | LinuxNative.OpenDirectory, out SafeFileHandle handle);
        using (handle)
        {
            while (error == 0 && LinuxNative.SyncAll(handle) != 0)
            {
                error = LinuxNative.LastError;
                error = error == LinuxErrors.Interrupted ? 0 : error;
            }
        }

        if (error is LinuxErrors.TooManyFilesInProcess or LinuxErrors.TooManyFilesOnMachine)
        {
            throw new StoreException(
                $"Writing the directory '{directory}' to disk failed, because too many files are open. Names of files in it may be lost if the machine stops. " +
                $"{LinuxErrors.CloseSomeFiles(error)}");
        }

        // Some file systems have no directories that can be flushed. There the names cannot be made more durable.
        if (error is not (0 or LinuxErrors.Invalid or LinuxErrors.NotSupported))
        {
            throw LinuxErrors.Failed(
                $"Writing the directory '{directory}' to disk failed; names of files in it may be lost if the machine stops", error);
        }
    }

    // Some file systems have files that cannot be flushed. There the content cannot be made more durable.
    public override void FlushFile(SafeFileHandle file, string what)
    {
        int error = LinuxStoreFile.Sync(file);
        if (error is not (0 or LinuxErrors.Invalid or LinuxErrors.NotSupported))
        {
            throw FileFailures.NotFlushed(what, LinuxErrors.Text(error));
        }
    }

    public override void RequireSupportedFileSystem(string path)
    {
        path = Path.GetFullPath(path);
        if (RefusedFileSystemOverride is { } kind)
        {
            throw new StoreUnsupportedFileSystemException(path, kind);
        }

        int error = FileSystemOf(path, out LinuxNative.FileSystemStatus status);
        if (error != 0)
        {
            // The file does not exist yet, or this user cannot reach it, which is frequent for a share of another user. Then the kind of the file system is
            // the more helpful answer.
            string directory = Path.GetDirectoryName(path) ?? "/";
            error = FileSystemOf(directory, out status);
            if (error != 0)
            {
                throw LinuxErrors.CreateIn(directory, Path.GetFileName(path), error);
            }
        }

        if (LinuxFileSystems.RefusedKind(status.Type) is { } refused)
        {
            throw new StoreUnsupportedFileSystemException(path, $"{refused}{DescribeMount(path)}");
        }
    }

    public override unsafe bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout)
    {
        Debug.Assert((nuint)address % sizeof(uint) == 0, "A futex is an aligned word.");

        int error;
        if (timeout == Timeout.InfiniteTimeSpan)
        {
            error = LinuxNative.Futex(address, LinuxNative.FutexWait, expected, timeout: null);
        }
        else
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(timeout, TimeSpan.Zero);
            var relative = new LinuxNative.Timespec
            {
                Seconds = timeout.Ticks / TimeSpan.TicksPerSecond,
                Nanoseconds = timeout.Ticks % TimeSpan.TicksPerSecond * TimeSpan.NanosecondsPerTick,
            };
            error = LinuxNative.Futex(address, LinuxNative.FutexWait, expected, &relative);
        }

        return error switch
        {
            0 or LinuxErrors.TryAgain or LinuxErrors.Interrupted => true,
            LinuxErrors.TimedOut => false,
            _ => throw LinuxErrors.Failed("Waiting on a word of the store failed", error),
        };
    }

    public override unsafe void WakeByAddress(uint* address, bool all)
    {
        int error = LinuxNative.Futex(address, LinuxNative.FutexWake, all ? int.MaxValue : 1u, timeout: null);
        Debug.Assert(error == 0, "Only an address that is not mapped can fail.");
    }

    internal static int TryOpen(string path, int flags, out SafeFileHandle handle, uint mode = OwnerOnly)
    {
        int descriptor;
        int error = 0;
        do
        {
            descriptor = LinuxNative.Open(path, flags | LinuxNative.CloseOnExec, mode);
            error = descriptor < 0 ? LinuxNative.LastError : 0;
        }
        while (error == LinuxErrors.Interrupted);

        handle = new SafeFileHandle(descriptor, ownsHandle: true);
        return error;
    }

    // This is for file systems without unnamed files. While such a file has its temporary name, its creator holds the lock of its creator byte. So a
    // process that gets that lock knows that the creator is dead. Another process can get the lock between the creation and the locking, and delete the
    // name. Then the creation starts over.
    internal static LinuxStoreFile CreateTemporarilyNamed(string directory, string nameHint)
    {
        const int Flags =
            LinuxNative.ReadWrite | LinuxNative.Create | LinuxNative.Exclusive | LinuxNative.NonBlocking;
        while (true)
        {
            string path = TemporaryNames.Create(directory, nameHint);
            int error = TryOpen(path, Flags | LinuxNative.NoFollow, out SafeFileHandle handle);
            if (error == LinuxErrors.Exists)
            {
                continue;
            }

            if (error != 0)
            {
                throw LinuxErrors.CreateIn(directory, nameHint, error);
            }

            var file = new LinuxStoreFile(
                handle, Path.Combine(directory, nameHint), isPublished: false, temporaryName: path);
            if (file.TryLockByte(StoreFile.CreatorLockByte) && file.IsStillAt(path))
            {
                return file;
            }

            file.Dispose();
        }
    }

    /// <summary>Deletes the files that dead creators of this name have left with a temporary name.</summary>
    internal static void ReapAbandoned(string directory, string nameHint)
    {
        foreach (string path in TemporaryNames.Find(directory, nameHint))
        {
            if (TryOpen(path, LinuxNative.ReadWrite | LinuxNative.NonBlocking | LinuxNative.NoFollow, out SafeFileHandle handle) != 0)
            {
                continue;
            }

            using var file = new LinuxStoreFile(handle, path, isPublished: true);
            if (file.IsRegularFile && file.TryLockByte(StoreFile.CreatorLockByte) && file.IsStillAt(path))
            {
                _ = LinuxNative.Unlink(path); // If this user has no permission, another user's process deletes it later.
            }
        }
    }

    private static string ReadBootId(string source)
    {
        string text;
        try
        {
            text = File.ReadAllText(source).Trim();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            string remedy = e is FileNotFoundException or DirectoryNotFoundException ? "Mount /proc."
                : e.HResult is LinuxErrors.TooManyFilesInProcess or LinuxErrors.TooManyFilesOnMachine ? LinuxErrors.CloseSomeFiles(e.HResult)
                : "Let this process read it.";
            throw new StoreException(
                $"The machine's boot id could not be read from {source}, and without it a store cannot tell whether the machine was restarted. {remedy} " +
                $"The system reported: {e.Message}",
                e);
        }

        return Guid.TryParseExact(text, "D", out _)
            ? text
            : throw new StoreException($"The machine's boot id in {source} is '{text}', which is not one. Mount /proc.");
    }

    private static int FileSystemOf(string path, out LinuxNative.FileSystemStatus status)
    {
        int error;
        do
        {
            error = LinuxNative.StatFileSystem(path, out status) == 0 ? 0 : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        return error;
    }

    // Returns for example " (fuse.sshfs at /mnt/share)". FUSE alone does not identify which of its many programs it is.
    private static string DescribeMount(string path)
    {
        try
        {
            LinuxMount? mount = LinuxMounts.Find(LinuxMounts.Parse(File.ReadAllText("/proc/self/mountinfo")), path);
            return mount is { } found ? $" ({found.Kind} at {found.MountPoint})" : "";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return ""; // Only the message has less detail.
        }
    }

    private static LinuxStoreFile OpenExisting(string path, bool isWritable)
    {
        int access = isWritable ? LinuxNative.ReadWrite : LinuxNative.ReadOnly;

        // Without this flag, the opening of a pipe would wait for its other end.
        int error = TryOpen(path, access | LinuxNative.NonBlocking, out SafeFileHandle handle);
        if (error != 0)
        {
            throw LinuxErrors.Open(path, error, isWritable);
        }

        var file = new LinuxStoreFile(handle, path, isPublished: true);
        if (!file.IsRegularFile)
        {
            bool isDirectory = file.IsDirectory;
            file.Dispose();
            throw isDirectory ? FileFailures.IsADirectory(path) : FileFailures.NotARegularFile(path);
        }

        return file;
    }
}
