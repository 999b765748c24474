// The system calls of the store on macOS, with the constants and structures of 64-bit macOS (Apple's open sources: sys/fcntl.h, sys/stat.h, sys/mount.h,
// sys/mman.h, sys/errno.h; os/os_sync_wait_on_address.h of the SDK).
//
// open and fcntl are variadic in C. On Apple's Arm64 the variable arguments are always passed on the stack, even if registers are free. So the calls
// declare additional arguments for the remaining registers: the ninth argument is the first on the stack.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.MacOs;

internal static unsafe partial class MacNative
{
    // open(2)
    public const int ReadOnly = 0;
    public const int ReadWrite = 2;
    public const int NonBlocking = 0x4;
    public const int NoFollow = 0x100;
    public const int Create = 0x200;
    public const int Exclusive = 0x800;
    public const int OpenDirectory = 0x10_0000;
    public const int CloseOnExec = 0x100_0000;

    // stat(2)
    public const int FileTypeMask = 0xF000;
    public const int RegularFile = 0x8000;
    public const int Directory = 0x4000;
    public const int PermissionMask = 0xFFF;

    // fcntl(2)
    public const int PreallocateCommand = 42;
    public const int FullSync = 51;
    public const int OfdSetLock = 90;
    public const int OfdGetLock = 92;
    public const short Unlock = 2;
    public const short WriteLock = 3;
    public const uint AllocateAll = 4;
    public const int FromPhysicalEnd = 3;

    // renamex_np(2)
    public const uint RenameExclusive = 4;

    // mmap(2), msync(2), madvise(2)
    public const int ProtectRead = 1;
    public const int ProtectWrite = 2;
    public const int MapShared = 1;
    public const int MapPrivate = 2;
    public const int MapNoReserve = 0x40;
    public const int SyncNow = 0x10;
    public const int AdviseRandom = 1;
    public const int AdviseWillNeed = 3;

    // statfs(2)
    public const uint IsLocal = 0x1000;

    // os_sync_wait_on_address
    public const uint Shared = 1;
    public const uint MachAbsoluteTime = 32;

    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;
    private const string Library = "libSystem";

    public static int LastError => Marshal.GetLastPInvokeError();

    public static int Open(string path, int flags, uint mode) => OpenFile(path, flags, 0, 0, 0, 0, 0, 0, (nint)mode);

    public static int Lock(SafeHandle file, int command, ref FileLock fileLock)
    {
        fixed (FileLock* argument = &fileLock)
        {
            return Control(file, command, 0, 0, 0, 0, 0, 0, argument);
        }
    }

    public static int Allocate(SafeHandle file, ref Allocation allocation)
    {
        fixed (Allocation* argument = &allocation)
        {
            return Control(file, PreallocateCommand, 0, 0, 0, 0, 0, 0, argument);
        }
    }

    /// <summary>Flushes a file to the disk, and flushes the disk's own cache.</summary>
    public static int SyncFully(SafeHandle file) => Control(file, FullSync, 0, 0, 0, 0, 0, 0, null);

    [LibraryImport(Library, EntryPoint = "pread", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Read(SafeHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport(Library, EntryPoint = "pwrite", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Write(SafeHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport(Library, EntryPoint = "ftruncate", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Truncate(SafeHandle file, long length);

    [LibraryImport(Library, EntryPoint = "fsync", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Sync(SafeHandle file);

    [LibraryImport(Library, EntryPoint = "fchmod", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int ChangeMode(SafeHandle file, ushort mode);

    [LibraryImport(Library, EntryPoint = "fchown", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int ChangeOwner(SafeHandle file, uint user, uint group);

    [LibraryImport(Library, EntryPoint = "link", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Link(string source, string target);

    [LibraryImport(Library, EntryPoint = "rename", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Rename(string source, string target);

    [LibraryImport(Library, EntryPoint = "renamex_np", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Rename(string source, string target, uint flags);

    [LibraryImport(Library, EntryPoint = "unlink", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Unlink(string path);

    [LibraryImport(Library, EntryPoint = "stat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatPath(string path, out FileStatus status);

    [LibraryImport(Library, EntryPoint = "fstat", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatFile(SafeHandle file, out FileStatus status);

    [LibraryImport(Library, EntryPoint = "statfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatFileSystem(string path, out FileSystemStatus status);

    [LibraryImport(Library, EntryPoint = "fstatfs", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatFileSystem(SafeHandle file, out FileSystemStatus status);

    [LibraryImport(Library, EntryPoint = "mmap", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Map(nint address, nuint length, int protection, int flags, SafeHandle file, long offset);

    [LibraryImport(Library, EntryPoint = "munmap", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Unmap(void* address, nuint length);

    [LibraryImport(Library, EntryPoint = "msync", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Sync(void* address, nuint length, int flags);

    [LibraryImport(Library, EntryPoint = "madvise", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Advise(void* address, nuint length, int advice);

    [LibraryImport(Library, EntryPoint = "sysctlbyname", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int ReadSystemValue(string name, byte* value, nuint* bytes, void* newValue, nuint newBytes);

    // Available since macOS 14.4.
    [LibraryImport(Library, EntryPoint = "os_sync_wait_on_address", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int WaitOnAddress(void* address, ulong expected, nuint bytes, uint flags);

    [LibraryImport(Library, EntryPoint = "os_sync_wait_on_address_with_timeout", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int WaitOnAddress(void* address, ulong expected, nuint bytes, uint flags, uint clock, ulong timeoutNs);

    [LibraryImport(Library, EntryPoint = "os_sync_wake_by_address_any", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int WakeAny(void* address, nuint bytes, uint flags);

    [LibraryImport(Library, EntryPoint = "os_sync_wake_by_address_all", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int WakeAll(void* address, nuint bytes, uint flags);

    [LibraryImport(Library, EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int OpenFile(string path, nint flags, nint r2, nint r3, nint r4, nint r5, nint r6, nint r7, nint mode);

    [LibraryImport(Library, EntryPoint = "fcntl", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int Control(SafeHandle file, nint command, nint r2, nint r3, nint r4, nint r5, nint r6, nint r7, void* argument);

    // struct flock
    [StructLayout(LayoutKind.Explicit, Size = 24)]
    public struct FileLock
    {
        [FieldOffset(0)]
        public long Start;

        [FieldOffset(8)]
        public long Length;

        [FieldOffset(20)]
        public short Type;
    }

    // struct fstore
    [StructLayout(LayoutKind.Sequential)]
    public struct Allocation
    {
        public uint Flags;
        public int From;
        public long Offset;
        public long Length;
        public long Allocated;
    }

    // struct stat with 64-bit inode numbers, which is the only one on Arm64.
    [StructLayout(LayoutKind.Explicit, Size = 144)]
    public struct FileStatus
    {
        [FieldOffset(0)]
        public uint Device;

        [FieldOffset(4)]
        public ushort Mode;

        [FieldOffset(8)]
        public ulong Inode;

        [FieldOffset(16)]
        public uint User;

        [FieldOffset(20)]
        public uint Group;

        [FieldOffset(96)]
        public long Size;

        [FieldOffset(104)]
        public long Blocks;

        public readonly FileIdentity Identity => new(Device, Inode);
    }

    // struct statfs with 64-bit inode numbers.
    [StructLayout(LayoutKind.Explicit, Size = 2168)]
    public struct FileSystemStatus
    {
        [FieldOffset(0)]
        public uint BlockBytes;

        [FieldOffset(24)]
        public long AvailableBlocks;

        [FieldOffset(64)]
        public uint Flags;

        [FieldOffset(72)]
        public fixed byte Kind[16];

        [FieldOffset(88)]
        public fixed byte MountPoint[1024];
    }
}
