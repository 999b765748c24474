// Windows 10 and later, and Windows Server 2016 and later, on x64 and Arm64.
//
//   P1  LockFileEx; see WindowsStoreFile.
//   P2  A file is as long as its mapping and has space for its whole length, on NTFS and ReFS, if it is neither sparse nor compressed.
//   P3  Until a file has its own name, it has a hidden name, and its creator byte is locked. It gets its own name by a rename with POSIX semantics.
//   P4  Views of sections of one local file. Reads from the file use the same pages.
//   P5  FlushViewOfFile and FlushFileBuffers. The latter writes the volume's log, and with it the names.
//
// Windows never replaces or deletes a mapped file. The store does neither while it has the file mapped.
using System.ComponentModel;
using System.Runtime.Versioning;
using System.Security.AccessControl;
using System.Security.Principal;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

[SupportedOSPlatform("windows")]
internal sealed class WindowsPlatform : StorePlatform
{
    private const FileShare ShareAll = FileShare.ReadWrite | FileShare.Delete;
    private const FileSystemRights CreatorRights = FileSystemRights.Modify | FileSystemRights.Synchronize;

    // A failure is not kept, because it can be temporary.
    private readonly Lazy<string> _bootId = new(WindowsBoot.ReadId, LazyThreadSafetyMode.PublicationOnly);

    public WindowsPlatform()
    {
        if (RuntimeInformation.ProcessArchitecture is not (Architecture.X64 or Architecture.Arm64))
        {
            throw new PlatformNotSupportedException(
                $"Cairn's store runs on x64 and arm64; this process is {RuntimeInformation.ProcessArchitecture}.");
        }
    }

    public override string BootId => BootIdOverride ?? _bootId.Value;

    public override int PageSize => Environment.SystemPageSize;

    // The runtime also knows the limit of a job object, which is the form of a container on Windows.
    public override long? MemoryLimitBytes =>
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is > 0 and var bytes ? bytes : null;

    public override StoreFile Open(string path) => OpenExisting(Path.GetFullPath(path), isWritable: true);

    public override StoreFile OpenReadOnly(string path) => OpenExisting(Path.GetFullPath(path), isWritable: false);

    // Another process can get the lock of the creator byte between the creation and the locking, and delete the name. Then the creation starts over.
    public override StoreFile CreateUnnamed(string directory, string nameHint)
    {
        directory = Path.GetFullPath(directory);
        ReapAbandoned(directory, nameHint);
        string target = Path.Combine(directory, nameHint);
        while (true)
        {
            string name = TemporaryNames.Create(directory, nameHint);
            if (TryCreate(name, target) is not { } stream)
            {
                continue;
            }

            File.SetAttributes(stream.SafeFileHandle, FileAttributes.NotContentIndexed); // No indexer must open the file.
            var file = new WindowsStoreFile(stream, target, name);
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
        return TryCreate(path, path) is { } stream ? new WindowsStoreFile(stream, path, temporaryName: null) : null;
    }

    public override void Delete(string path)
    {
        path = Path.GetFullPath(path);
        try
        {
            File.Delete(path);
        }
        catch (DirectoryNotFoundException)
        {
            // The name does not exist.
        }
        catch (UnauthorizedAccessException)
        {
            throw Directory.Exists(path) ? FileFailures.IsADirectory(path) : FileFailures.MayNotDelete(path);
        }
        catch (IOException failure)
        {
            throw new StoreException($"The file '{path}' could not be deleted: {failure.Message}", failure);
        }
    }

    // This user or this file system possibly cannot flush a directory. Then the volume's log makes the names durable, and the flush of the file itself has
    // written that log.
    public override void FlushDirectory(string directory)
    {
        directory = Path.GetFullPath(directory);
        using SafeFileHandle handle = WindowsStoreFile.OpenAny(directory, WindowsNative.GenericWrite);
        int error = handle.IsInvalid ? WindowsNative.LastError : 0;
        if (error is WindowsErrors.NotFound or WindowsErrors.PathNotFound)
        {
            throw WindowsErrors.Failed($"Writing the directory '{directory}' to disk failed; names of files in it may be lost if the machine stops", error);
        }

        if (error == 0)
        {
            _ = WindowsNative.FlushFileBuffers(handle);
        }
    }

    public override void RequireSupportedFileSystem(string path)
    {
        path = Path.GetFullPath(path);
        if (RefusedFileSystemOverride is { } kind)
        {
            throw new StoreUnsupportedFileSystemException(path, kind);
        }

        string directory = Path.GetDirectoryName(path) ?? path;
        using SafeFileHandle handle = Path.Exists(path)
            ? WindowsStoreFile.OpenAny(path, WindowsNative.ReadAttributes)
            : WindowsStoreFile.OpenAny(directory, WindowsNative.ReadAttributes);
        if (handle.IsInvalid)
        {
            int error = WindowsNative.LastError;
            throw error switch
            {
                WindowsErrors.NotFound or WindowsErrors.PathNotFound => FileFailures.NoDirectoryFor(path),
                WindowsErrors.AccessDenied => FileFailures.MayNotOpen(path, forWriting: true),
                _ => WindowsErrors.Failed($"The file system of '{path}' could not be found out", error),
            };
        }

        if (WindowsFileSystems.RefusedKindOf(handle) is { } refused)
        {
            throw new StoreUnsupportedFileSystemException(path, refused);
        }
    }

    // A wake only reaches threads of this process that wait at exactly this address. All other waiters poll the word after each pause.
    public override unsafe bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout)
    {
        Debug.Assert((nuint)address % sizeof(uint) == 0, "An aligned word.");
        return PollingWait.Run(address, expected, timeout, &Pause);
    }

    public override unsafe void WakeByAddress(uint* address, bool all)
    {
        if (all)
        {
            WindowsNative.WakeByAddressAll(address);
        }
        else
        {
            WindowsNative.WakeByAddressSingle(address);
        }
    }

    private static unsafe bool Pause(uint* address, uint expected, int pauseMs) =>
        WindowsNative.WaitOnAddress(address, &expected, sizeof(uint), (uint)pauseMs);

    internal static void TryDelete(string path)
    {
        try
        {
            File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // This user has no permission to delete the file. The next creation of this name by a user with permission deletes it.
        }
    }

    // Only this user can read and write the file: it does not inherit the permissions of the directory.
    private static FileStream? TryCreate(string path, string target)
    {
        try
        {
            using WindowsIdentity user = WindowsIdentity.GetCurrent();
            var security = new FileSecurity();
            security.SetAccessRuleProtection(isProtected: true, preserveInheritance: false);
            security.AddAccessRule(new FileSystemAccessRule(user.User!, FileSystemRights.FullControl, AccessControlType.Allow));
            return new FileInfo(path).Create(FileMode.CreateNew, CreatorRights, ShareAll, bufferSize: 1, FileOptions.None, security);
        }
        catch (IOException failure) when (WindowsErrors.Of(failure) is WindowsErrors.FileExists or WindowsErrors.AlreadyExists)
        {
            return null;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or Win32Exception or System.Security.SecurityException)
        {
            throw WindowsErrors.Create(target, failure);
        }
    }

    private static void ReapAbandoned(string directory, string nameHint)
    {
        foreach (string path in TemporaryNames.Find(directory, nameHint))
        {
            WindowsStoreFile file;
            try
            {
                file = OpenExisting(path, isWritable: true);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                continue;
            }

            using (file)
            {
                if (file.TryLockByte(StoreFile.CreatorLockByte) && file.IsStillAt(path))
                {
                    TryDelete(path);
                }
            }
        }
    }

    private static WindowsStoreFile OpenExisting(string path, bool isWritable)
    {
        SafeFileHandle handle;
        try
        {
            handle = File.OpenHandle(path, FileMode.Open, isWritable ? FileAccess.ReadWrite : FileAccess.Read, ShareAll);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            throw WindowsErrors.Open(path, failure, isWritable);
        }

        if (WindowsNative.GetFileType(handle) != WindowsNative.DiskFile)
        {
            handle.Dispose();
            throw FileFailures.NotARegularFile(path);
        }

        return new WindowsStoreFile(handle, path, isWritable);
    }
}
