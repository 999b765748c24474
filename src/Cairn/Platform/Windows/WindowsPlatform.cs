// Windows 10 and later, and Windows Server 2016 and later, on x64 and Arm64.
//
//   P1  LockFileEx; see WindowsStoreFile.
//   P2  A file is as long as its mapping, and has the space of its length: NTFS and ReFS, neither sparse nor compressed.
//   P3  A file has a hidden name until it has its own, with its creator byte locked, and gets its own by a rename with POSIX semantics.
//   P4  Views of sections of one local file; what is read from the file comes from the same pages.
//   P5  FlushViewOfFile and FlushFileBuffers; the latter writes the volume's log, and with it the names.
//
// No file that is mapped can be replaced or deleted here, by anybody. The store does neither while it has one mapped.
using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
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

    private readonly Lazy<string> _bootId = new(WindowsBoot.ReadId);

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

    // The runtime knows the limit of a job object, too, which is what a container is here.
    public override long? MemoryLimitBytes =>
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is > 0 and var bytes ? bytes : null;

    public override StoreFile Open(string path) => OpenExisting(Path.GetFullPath(path), isWritable: true);

    public override StoreFile OpenReadOnly(string path) => OpenExisting(Path.GetFullPath(path), isWritable: false);

    // A reaper may get the creator byte between the creation and the lock; then the name is gone or about to be, and the creation starts over.
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

            File.SetAttributes(stream.SafeFileHandle, FileAttributes.NotContentIndexed); // Nobody shall open it to look inside.
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
            // No such name.
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

    // Where a directory cannot be flushed by this user or on this file system, its names are as durable as its log makes them: the flush of
    // the file itself has written that.
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

    // Wakes reach only threads of this process that wait at this very address. For all others there are the pauses: each looks at the word again.
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
            // Whoever may not remove it leaves it to somebody who may: the next creation of this name reaps it.
        }
    }

    // Readable and writable by this user only: the permissions of the directory are not inherited.
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
