// macOS on Apple silicon.
//
//   P1  Locks of the open file description; see MacStoreFile.
//   P2  F_PREALLOCATE. APFS copies the pages that a snapshot or a clone shares when they are written, and cannot promise space for that.
//   P3  Until a file has its own name, it has a hidden name, and its creator byte is locked. It gets its own name by renamex_np or rename.
//   P4  mmap, shared. The part past the file's end can be used when the file has grown, as on Linux.
//   P5  msync and fcntl(F_FULLFSYNC). fsync alone does not flush the disk's own cache.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.MacOs;

internal sealed unsafe class MacPlatform : StorePlatform
{
    private const uint OwnerOnly = 0b110_000_000; // rw-------

    // os_sync_wait_on_address, which also works between processes.
    private static readonly bool HasWaits = OperatingSystem.IsMacOSVersionAtLeast(14, 4);

    // A failure is not kept, because it can be temporary.
    private readonly Lazy<string> _bootId = new(ReadBootId, LazyThreadSafetyMode.PublicationOnly);

    public MacPlatform()
    {
        if (RuntimeInformation.ProcessArchitecture != Architecture.Arm64)
        {
            throw new PlatformNotSupportedException(
                $"Cairn's store runs on Macs with Apple silicon (arm64); this process is {RuntimeInformation.ProcessArchitecture}. Use a cache server instead.");
        }
    }

    public override string BootId => BootIdOverride ?? _bootId.Value;

    public override int PageSize => Environment.SystemPageSize;

    public override long? MemoryLimitBytes =>
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is > 0 and var bytes ? bytes : null;

    public override StoreFile Open(string path) => OpenExisting(Path.GetFullPath(path), isWritable: true);

    public override StoreFile OpenReadOnly(string path) => OpenExisting(Path.GetFullPath(path), isWritable: false);

    // Another process can get the lock of the creator byte between the creation and the locking, and delete the name. Then the creation starts over.
    public override bool IsSpecialFile(string path) =>
        MacNative.StatPath(Path.GetFullPath(path), out MacNative.FileStatus status) == 0
        && (status.Mode & MacNative.FileTypeMask) is not (MacNative.RegularFile or MacNative.Directory);

    public override StoreFile CreateUnnamed(string directory, string nameHint)
    {
        directory = Path.GetFullPath(directory);
        ReapAbandoned(directory, nameHint);
        string target = Path.Combine(directory, nameHint);
        while (true)
        {
            string name = TemporaryNames.Create(directory, nameHint);
            if (TryCreate(name, target) is not { } handle)
            {
                continue;
            }

            var file = new MacStoreFile(handle, target, name);
            if (file.TryLockByte(StoreFile.CreatorLockByte) && file.IsStillAt(name))
            {
                return file;
            }

            file.Dispose();
        }
    }

    public override StoreFile? TryCreate(string path)
    {
        path = Path.GetFullPath(path);
        return TryCreate(path, path) is { } handle ? new MacStoreFile(handle, path) : null;
    }

    public override void Delete(string path)
    {
        path = Path.GetFullPath(path);
        if (MacNative.Unlink(path) != 0 && MacNative.LastError is var error and not (MacErrors.NoEntry or MacErrors.NotDirectory))
        {
            throw error == MacErrors.NotPermitted && Directory.Exists(path) ? FileFailures.IsADirectory(path) : MacErrors.Delete(path, error);
        }
    }

    public override void FlushDirectory(string directory)
    {
        directory = Path.GetFullPath(directory);
        int error = TryOpen(directory, MacNative.ReadOnly | MacNative.OpenDirectory, out SafeFileHandle handle);
        using (handle)
        {
            error = error == 0 ? MacStoreFile.SyncFully(handle) : error;
        }

        // Some file systems have no directories that can be flushed. There the names cannot be made more durable.
        if (error is not (0 or MacErrors.Invalid or MacErrors.NotSupported))
        {
            throw MacErrors.Failed(
                $"Writing the directory '{directory}' to disk failed; names of files in it may be lost if the machine stops. Check the disk", error);
        }
    }

    public override void FlushFile(SafeFileHandle file, string what)
    {
        if (MacStoreFile.SyncFully(file) is var error and not 0)
        {
            throw FileFailures.NotFlushed(what, MacErrors.Text(error));
        }
    }

    public override void RequireSupportedFileSystem(string path)
    {
        path = Path.GetFullPath(path);
        if (RefusedFileSystemOverride is { } kind)
        {
            throw new StoreUnsupportedFileSystemException(path, kind);
        }

        string directory = Path.GetDirectoryName(path) ?? "/";
        if (MacNative.StatFileSystem(path, out MacNative.FileSystemStatus status) != 0
            && MacNative.StatFileSystem(directory, out status) != 0)
        {
            throw MacErrors.Create(path, MacNative.LastError);
        }

        string name = TextOf(status.Kind, 16);
        if (MacFileSystems.RefusedKind(name, (status.Flags & MacNative.IsLocal) != 0) is { } refused)
        {
            throw new StoreUnsupportedFileSystemException(path, $"{refused} ({name} at {TextOf(status.MountPoint, 1024)})");
        }
    }

    public override bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout)
    {
        Debug.Assert((nuint)address % sizeof(uint) == 0, "An aligned word.");
        if (timeout != Timeout.InfiniteTimeSpan)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(timeout, TimeSpan.Zero);
            if (timeout == TimeSpan.Zero)
            {
                return Volatile.Read(ref *address) != expected; // The system reads a time of zero as no limit.
            }
        }

        return HasWaits ? Wait(address, expected, timeout) : PollingWait.Run(address, expected, timeout, &PollingWait.Sleep);
    }

    public override void WakeByAddress(uint* address, bool all)
    {
        if (HasWaits)
        {
            // Fails with ENOENT if no thread waits.
            _ = all
                ? MacNative.WakeAll(address, sizeof(uint), MacNative.Shared)
                : MacNative.WakeAny(address, sizeof(uint), MacNative.Shared);
        }
    }

    internal static int TryOpen(string path, int flags, out SafeFileHandle handle)
    {
        int descriptor;
        int error = 0;
        do
        {
            descriptor = MacNative.Open(path, flags | MacNative.CloseOnExec, OwnerOnly);
            error = descriptor < 0 ? MacNative.LastError : 0;
        }
        while (error == MacErrors.Interrupted);

        handle = new SafeFileHandle(descriptor, ownsHandle: true);
        return error;
    }

    private static bool Wait(uint* address, uint expected, TimeSpan timeout)
    {
        int left = timeout == Timeout.InfiniteTimeSpan
            ? MacNative.WaitOnAddress(address, expected, sizeof(uint), MacNative.Shared)
            : MacNative.WaitOnAddress(
                address, expected, sizeof(uint), MacNative.Shared, MacNative.MachAbsoluteTime, (ulong)timeout.Ticks * TimeSpan.NanosecondsPerTick);

        // EFAULT means that the page was not present at this moment. Like EINTR, it means that the caller must check again.
        return left >= 0 || MacNative.LastError != MacErrors.TimedOut;
    }

    private static SafeFileHandle? TryCreate(string path, string target)
    {
        const int Flags = MacNative.ReadWrite | MacNative.Create | MacNative.Exclusive | MacNative.NonBlocking | MacNative.NoFollow;
        int error = TryOpen(path, Flags, out SafeFileHandle handle);
        return error switch
        {
            0 => handle,
            MacErrors.Exists => null,
            _ => throw MacErrors.Create(target, error),
        };
    }

    private static void ReapAbandoned(string directory, string nameHint)
    {
        foreach (string path in TemporaryNames.Find(directory, nameHint))
        {
            if (TryOpen(path, MacNative.ReadWrite | MacNative.NonBlocking | MacNative.NoFollow, out SafeFileHandle handle) != 0)
            {
                continue;
            }

            using var file = new MacStoreFile(handle, path);
            if (file.IsRegularFile && file.TryLockByte(StoreFile.CreatorLockByte) && file.IsStillAt(path))
            {
                _ = MacNative.Unlink(path); // If this user has no permission, another user's process deletes it later.
            }
        }
    }

    private static MacStoreFile OpenExisting(string path, bool isWritable)
    {
        // Without this flag, the opening of a pipe would wait for its other end.
        int error = TryOpen(path, (isWritable ? MacNative.ReadWrite : MacNative.ReadOnly) | MacNative.NonBlocking, out SafeFileHandle handle);
        if (error != 0)
        {
            throw MacErrors.Open(path, error, isWritable);
        }

        var file = new MacStoreFile(handle, path);
        if (!file.IsRegularFile)
        {
            bool isDirectory = file.IsDirectory;
            file.Dispose();
            throw isDirectory ? FileFailures.IsADirectory(path) : FileFailures.NotARegularFile(path);
        }

        return file;
    }

    private static string ReadBootId()
    {
        const string Source = "kern.bootsessionuuid";
        byte* buffer = stackalloc byte[64];
        nuint bytes = 64;
        int error = MacNative.ReadSystemValue(Source, buffer, &bytes, null, 0) == 0 ? 0 : MacNative.LastError;
        string text = error == 0 ? TextOf(buffer, (int)bytes) : "";
        return Guid.TryParseExact(text, "D", out _)
            ? text
            : throw new StoreException(
                $"The machine's boot id could not be read from {Source}, and without it a store cannot tell whether the machine was restarted: it is '{text}' " +
                $"({MacErrors.Text(error)}).");
    }

    // In bounds: the caller passes the size of the field.
    private static string TextOf(byte* field, int bytes)
    {
        var span = new ReadOnlySpan<byte>(field, bytes);
        int end = span.IndexOf((byte)0);
        return Encoding.UTF8.GetString(end < 0 ? span : span[..end]);
    }
}
