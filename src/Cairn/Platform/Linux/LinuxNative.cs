// The system calls of the store on Linux, with the constants of x64 and arm64. Some calls (statx, futex, renameat2) are recent in the C library, or their
// structure differs between versions. These go through syscall(2), so that every glibc and musl works. fcntl, open and syscall are variadic in C. On these
// two architectures integer arguments are passed in the same way.
namespace Cairn.Platform.Linux;

internal static unsafe partial class LinuxNative
{
    // open(2)
    public const int ReadOnly = 0;
    public const int ReadWrite = 2;
    public const int Create = 0x40;
    public const int Exclusive = 0x80;
    public const int NonBlocking = 0x800;
    public const int CloseOnExec = 0x80000;

    // statx(2), linkat(2), renameat2(2)
    public const int CurrentDirectory = -100;
    public const int SymlinkNoFollow = 0x100;
    public const int SymlinkFollow = 0x400;
    public const int EmptyPath = 0x1000;
    public const uint RenameNoReplace = 1;
    public const int FileTypeMask = 0xF000;
    public const int RegularFile = 0x8000;
    public const int Directory = 0x4000;
    public const int PermissionMask = 0xFFF;

    // fallocate(2)
    public const int KeepSize = 0x01;

    /// <summary>The unit of <see cref="FileStatus.Blocks"/> in bytes.</summary>
    public const int BlockBytes = 512;
    public const int ZeroRange = 0x10;

    // lseek(2)
    public const int SeekData = 3;
    public const int SeekHole = 4;

    // fcntl(2)
    public const int OfdGetLock = 36;
    public const int OfdSetLock = 37;
    public const short ReadLock = 0;
    public const short WriteLock = 1;
    public const short Unlock = 2;

    // flock(2)
    public const int SharedFileLock = 1;
    public const int DoNotWait = 4;
    public const int NoFileLock = 8;

    // mmap(2), msync(2), madvise(2)
    public const int ProtectRead = 1;
    public const int ProtectWrite = 2;
    public const int MapShared = 1;
    public const int MapPrivate = 2;
    public const int MapAnonymous = 0x20;
    public const int MapNoReserve = 0x4000;
    public const int SyncNow = 4;
    public const int AdviseRandom = 1;
    public const int AdviseDrop = 4;
    public const int AdvisePopulateRead = 22;
    public const int AdvisePopulateWrite = 23;

    // clock_gettime(2)
    public const int ClockRealtimeCoarse = 5;

    // getrlimit(2)
    public const int FileSizeLimit = 1;

    // futex(2), in the form that works across processes
    public const int FutexWait = 0;
    public const int FutexWake = 1;

    private const DllImportSearchPath Search = DllImportSearchPath.SafeDirectories;
    private const uint StatxBasic = 0x7FF;

    private static readonly bool IsArm64 = RuntimeInformation.ProcessArchitecture == Architecture.Arm64;

    public static bool IsSupportedArchitecture =>
        RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    // __O_TMPFILE | O_DIRECTORY. The bit of the latter differs between the architectures.
    public static int UnnamedFile => IsArm64 ? 0x404000 : 0x410000;

    public static int OpenDirectory => IsArm64 ? 0x4000 : 0x10000;

    public static int NoFollow => IsArm64 ? 0x8000 : 0x20000;

    private static nint StatxNumber => IsArm64 ? 291 : 332;

    private static nint FutexNumber => IsArm64 ? 98 : 202;

    private static nint RenameAt2Number => IsArm64 ? 276 : 316;

    public static int LastError => Marshal.GetLastPInvokeError();

    public static int StatPath(string path, int flags, out FileStatus status) =>
        Statx(StatxNumber, CurrentDirectory, path, flags, StatxBasic, out status) == 0 ? 0 : LastError;

    public static int StatFile(SafeHandle file, out FileStatus status) =>
        Statx(StatxNumber, file, "", EmptyPath, StatxBasic, out status) == 0 ? 0 : LastError;

    public static int RenameWithoutReplacing(string source, string target) =>
        RenameAt2(RenameAt2Number, CurrentDirectory, source, CurrentDirectory, target, RenameNoReplace) == 0
            ? 0
            : LastError;

    public static int Futex(uint* address, int operation, uint value, Timespec* timeout) =>
        FutexCall(FutexNumber, address, operation, value, timeout, null, 0) >= 0 ? 0 : LastError;

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [DefaultDllImportSearchPaths(Search)]
    [SuppressGCTransition] // Never waits.
    public static partial int GetTime(int clock, Timespec* time);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Open(string path, int flags, uint mode);

    [LibraryImport("libc", EntryPoint = "pread", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Read(SafeHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport("libc", EntryPoint = "pwrite", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Write(SafeHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport("libc", EntryPoint = "lseek", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial long Seek(SafeHandle file, long offset, int whence);

    [LibraryImport("libc", EntryPoint = "fallocate", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Allocate(SafeHandle file, int mode, long offset, long length);

    [LibraryImport("libc", EntryPoint = "ftruncate", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Truncate(SafeHandle file, long length);

    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int SyncData(SafeHandle file);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int SyncAll(SafeHandle file);

    [LibraryImport("libc", EntryPoint = "fchmod", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int ChangeMode(SafeHandle file, uint mode);

    [LibraryImport("libc", EntryPoint = "fchown", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int ChangeOwner(SafeHandle file, uint user, uint group);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Lock(SafeHandle file, int command, ref FileLock fileLock);

    [LibraryImport("libc", EntryPoint = "flock", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int LockFile(SafeHandle file, int operation);

    [LibraryImport("libc", EntryPoint = "linkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Link(int sourceBase, string source, int targetBase, string target, int flags);

    [LibraryImport("libc", EntryPoint = "rename", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Rename(string source, string target);

    [LibraryImport("libc", EntryPoint = "unlink", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Unlink(string path);

    [LibraryImport("libc", EntryPoint = "statfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatFileSystem(string path, out FileSystemStatus status);

    [LibraryImport("libc", EntryPoint = "fstatfs", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int StatFileSystem(SafeHandle file, out FileSystemStatus status);

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint Map(nint address, nuint length, int protection, int flags, SafeHandle file, long offset);

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint MapMemory(nint address, nuint length, int protection, int flags, int file, long offset);

    /// <summary>Returns unused memory of the C library's allocator to the system, if that library has a function for it.</summary>
    public static void TrimHeap()
    {
        try
        {
            _ = TrimAllocator(0);
        }
        catch (EntryPointNotFoundException)
        {
            // This is musl. Its allocator returns memory automatically.
        }
    }

    [LibraryImport("libc", EntryPoint = "malloc_trim")]
    [DefaultDllImportSearchPaths(Search)]
    private static partial int TrimAllocator(nuint kept);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Unmap(void* address, nuint length);

    [LibraryImport("libc", EntryPoint = "msync", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Sync(void* address, nuint length, int flags);

    [LibraryImport("libc", EntryPoint = "madvise", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int Advise(void* address, nuint length, int advice);

    [LibraryImport("libc", EntryPoint = "getrlimit", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int GetLimit(int resource, out Limits limits);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint Statx(
        nint number, nint directory, string path, nint flags, nuint mask, out FileStatus status);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint Statx(
        nint number, SafeHandle file, string path, nint flags, nuint mask, out FileStatus status);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint RenameAt2(
        nint number, nint sourceBase, string source, nint targetBase, string target, nuint flags);

    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    private static partial nint FutexCall(
        nint number, uint* address, nint operation, nuint value, Timespec* timeout, uint* address2, nuint value3);

    // struct flock of 64-bit Linux. The process number must be 0 for locks of an open file description.
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public struct FileLock
    {
        [FieldOffset(0)]
        public short Type;

        [FieldOffset(8)]
        public long Start;

        [FieldOffset(16)]
        public long Length;
    }

    // struct statx. Unlike struct stat, it has the same layout on all architectures.
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    public struct FileStatus
    {
        [FieldOffset(20)]
        public uint User;

        [FieldOffset(24)]
        public uint Group;

        [FieldOffset(28)]
        public ushort Mode;

        [FieldOffset(32)]
        public ulong Inode;

        [FieldOffset(40)]
        public long Size;

        [FieldOffset(48)]
        public long Blocks;

        [FieldOffset(96)]
        public long ChangedSeconds;

        [FieldOffset(104)]
        public uint ChangedNanoseconds;

        [FieldOffset(136)]
        public uint DeviceMajor;

        [FieldOffset(140)]
        public uint DeviceMinor;

        public readonly FileIdentity Identity => new(((ulong)DeviceMajor << 32) | DeviceMinor, Inode);
    }

    // The beginning of struct statfs of 64-bit Linux, with room for the rest.
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    public struct FileSystemStatus
    {
        [FieldOffset(0)]
        public long Type;

        [FieldOffset(8)]
        public long BlockBytes;

        [FieldOffset(32)]
        public long AvailableBlocks;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Limits
    {
        public ulong Soft;
        public ulong Hard;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Timespec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
