using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Cairn.Protocol;

/// <summary>Memory before a page without access rights. A read of one byte beyond an input ends the process.</summary>
internal sealed unsafe partial class GuardedMemory : IDisposable
{
    private const nuint DataBytes = 1 << 20;
    private const int ProtectNone = 0;
    private const int ProtectReadWrite = 1 | 2;
    private const int PrivateAnonymous = 2 | 0x20;

    private readonly byte* _start;
    private readonly nuint _mappedBytes = DataBytes + (nuint)Environment.SystemPageSize;

    public GuardedMemory()
    {
        if (!OperatingSystem.IsLinux())
        {
            _start = (byte*)NativeMemory.Alloc(DataBytes); // Here only the bounds checks of spans protect.
            return;
        }

        _start = (byte*)Map(null, _mappedBytes, ProtectReadWrite, PrivateAnonymous, -1, 0);
        if (_start == (byte*)-1 || Protect(_start + DataBytes, (nuint)Environment.SystemPageSize, ProtectNone) != 0)
        {
            throw new Win32Exception();
        }
    }

    /// <summary>Copies the input so that it ends at the guarded page. Returns the copy.</summary>
    public ReadOnlySpan<byte> Place(ReadOnlySpan<byte> input)
    {
        var place = new Span<byte>(_start, (int)DataBytes)[^input.Length..];
        input.CopyTo(place);
        return place;
    }

    public void Dispose()
    {
        if (OperatingSystem.IsLinux())
        {
            _ = Unmap(_start, _mappedBytes);
        }
        else
        {
            NativeMemory.Free(_start);
        }
    }

    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial void* Map(void* address, nuint length, int protection, int flags, int file, nint offset);

    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    [LibraryImport("libc", EntryPoint = "mprotect", SetLastError = true)]
    private static partial int Protect(void* address, nuint length, int protection);

    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int Unmap(void* address, nuint length);
}
