// The calls of the store to Windows, in addition to those of .NET. Structures have their layout on 64-bit Windows.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

internal static unsafe partial class WindowsNative
{
    // LockFileEx
    public const uint FailImmediately = 1;
    public const uint Exclusive = 2;

    // CreateFileMappingW, MapViewOfFile
    public const uint PageReadOnly = 0x02;
    public const uint PageReadWrite = 0x04;
    public const uint PageWriteCopy = 0x08;
    public const uint ViewCopy = 0x01;
    public const uint ViewWrite = 0x02;
    public const uint ViewRead = 0x04;

    // CreateFileW
    public const uint ReadAttributes = 0x80;
    public const uint GenericWrite = 0x4000_0000;
    public const uint ShareAll = 7;
    public const uint OpenExisting = 3;
    public const uint BackupSemantics = 0x0200_0000; // Opens directories too.

    // GetFileType, GetDriveTypeW
    public const uint DiskFile = 1;
    public const uint RemoteDrive = 4;

    // FILE_INFO_BY_HANDLE_CLASS
    public const int RenameInformation = 3;
    public const int IdInformation = 18;
    public const int RenameInformationEx = 22;

    // The flags of FILE_RENAME_INFO for RenameInformationEx. RenameInformation has only the first one, as a byte.
    public const uint RenameReplace = 1;
    public const uint RenamePosix = 2;
    public const int RenameNameOffset = 20;
    public const int RenameLengthOffset = 16;

    // NtQuerySystemInformation
    public const int TimeOfDay = 3;

    private const DllImportSearchPath Search = DllImportSearchPath.System32;

    public static int LastError => Marshal.GetLastPInvokeError();

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool LockFileEx(
        SafeFileHandle file, uint flags, uint reserved, uint lengthLow, uint lengthHigh, Overlapped* where);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool UnlockFileEx(SafeFileHandle file, uint reserved, uint lengthLow, uint lengthHigh, Overlapped* where);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint CreateFileMappingW(
        SafeFileHandle file, nint attributes, uint protection, uint sizeHigh, uint sizeLow, nint name);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint MapViewOfFile(nint mapping, uint access, uint offsetHigh, uint offsetLow, nuint bytes);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool UnmapViewOfFile(void* address);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool FlushViewOfFile(void* address, nuint bytes);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool FlushFileBuffers(SafeFileHandle file);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool CloseHandle(nint handle);

    [LibraryImport("kernel32")]
    [DefaultDllImportSearchPaths(Search)]
    public static partial nint GetCurrentProcess();

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool PrefetchVirtualMemory(nint process, nuint ranges, MemoryRange* range, uint flags);

    [LibraryImport("kernel32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial SafeFileHandle CreateFileW(
        string path, uint access, uint share, nint security, uint disposition, uint flags, nint template);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial uint GetFileType(SafeFileHandle file);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetFileInformationByHandleEx(SafeFileHandle file, int kind, void* result, uint bytes);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetFileInformationByHandle(SafeFileHandle file, out FileInformation result);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool SetFileInformationByHandle(SafeFileHandle file, int kind, void* information, uint bytes);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial uint GetFinalPathNameByHandleW(SafeFileHandle file, char* path, uint characters, uint flags);

    [LibraryImport("kernel32", StringMarshalling = StringMarshalling.Utf16)]
    [DefaultDllImportSearchPaths(Search)]
    public static partial uint GetDriveTypeW(string root);

    [LibraryImport("kernel32", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetVolumeInformationByHandleW(
        SafeFileHandle file, char* label, uint labelCharacters, uint* serial, uint* longestName, uint* flags, char* kind, uint kindCharacters);

    [LibraryImport("ntdll")]
    [DefaultDllImportSearchPaths(Search)]
    public static partial int NtQuerySystemInformation(int kind, void* result, uint bytes, uint* returned);

    [LibraryImport("api-ms-win-core-synch-l1-2-0", SetLastError = true)]
    [DefaultDllImportSearchPaths(Search)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool WaitOnAddress(void* address, void* expected, nuint bytes, uint timeoutMs);

    [LibraryImport("api-ms-win-core-synch-l1-2-0")]
    [DefaultDllImportSearchPaths(Search)]
    public static partial void WakeByAddressSingle(void* address);

    [LibraryImport("api-ms-win-core-synch-l1-2-0")]
    [DefaultDllImportSearchPaths(Search)]
    public static partial void WakeByAddressAll(void* address);

    // OVERLAPPED, used here only for the offset in the file.
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public struct Overlapped
    {
        [FieldOffset(16)]
        public uint OffsetLow;

        [FieldOffset(20)]
        public uint OffsetHigh;
    }

    // WIN32_MEMORY_RANGE_ENTRY
    [StructLayout(LayoutKind.Sequential)]
    public struct MemoryRange
    {
        public void* Address;
        public nuint Bytes;
    }

    // FILE_ID_INFO
    [StructLayout(LayoutKind.Sequential)]
    public struct FileId
    {
        public ulong Volume;
        public ulong Low;
        public ulong High;
    }

    // BY_HANDLE_FILE_INFORMATION
    [StructLayout(LayoutKind.Explicit, Size = 52)]
    public struct FileInformation
    {
        [FieldOffset(28)]
        public uint Volume;

        [FieldOffset(44)]
        public uint IndexHigh;

        [FieldOffset(48)]
        public uint IndexLow;
    }

    // SYSTEM_TIMEOFDAY_INFORMATION
    [StructLayout(LayoutKind.Explicit, Size = 48)]
    public struct TimeOfDayInformation
    {
        [FieldOffset(0)]
        public long BootTime;

        [FieldOffset(32)]
        public long BootTimeBias;
    }
}
