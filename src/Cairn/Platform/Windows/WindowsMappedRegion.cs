using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

/// <summary>A view of a section of the file. All views of one local file show the same bytes, even if they belong to different sections.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsMappedRegion : SystemRegion
{
    // Other code that works on the pages can lock them for an instant. The system then returns an error instead of waiting.
    private const int MaxFlushAttempts = 10;

    private readonly SafeFileHandle _file;

    private WindowsMappedRegion(SafeFileHandle file, string path, byte* address, long length)
        : base(path, address, length) => _file = file;

    /// <summary>Maps bytes that exist in the file.</summary>
    public static WindowsMappedRegion Map(SafeFileHandle file, string path, long length, uint protection, uint access)
    {
        nint section = WindowsNative.CreateFileMappingW(file, 0, protection, (uint)(length >> 32), (uint)length, 0);
        if (section == 0)
        {
            throw WindowsErrors.Map(path, length, WindowsNative.LastError);
        }

        nint address = WindowsNative.MapViewOfFile(section, access, 0, 0, (nuint)length);
        int error = WindowsNative.LastError;
        _ = WindowsNative.CloseHandle(section); // The view keeps the section alive.
        return address == 0
            ? throw WindowsErrors.Map(path, length, error)
            : new WindowsMappedRegion(file, path, (byte*)address, length);
    }

    // The first call starts to write the pages. Only the second one waits for the end, and flushes the disk's own cache.
    protected override void FlushRange(long offset, long length)
    {
        int error;
        int attempt = 0;
        while ((error = FlushView(offset, length)) == WindowsErrors.LockViolation && ++attempt < MaxFlushAttempts)
        {
            Thread.Sleep(1);
        }

        if (error == 0 && !WindowsNative.FlushFileBuffers(_file))
        {
            error = WindowsNative.LastError;
        }

        if (error != 0)
        {
            throw FileFailures.NotFlushed($"bytes {offset} to {offset + length} of the store '{Path}'", WindowsErrors.Text(error));
        }
    }

    // The system only reads ahead. The first access to a page still causes a page fault, but a short one.
    protected override bool PopulateRange(long offset, long length, bool write)
    {
        var range = new WindowsNative.MemoryRange { Address = Address + offset, Bytes = (nuint)length };
        return WindowsNative.PrefetchVirtualMemory(WindowsNative.GetCurrentProcess(), 1, &range, 0);
    }

    protected override void AdviseRandom()
    {
        // Windows has no such advice for views.
    }

    protected override void Unmap() => _ = WindowsNative.UnmapViewOfFile(Address);

    private int FlushView(long offset, long length) =>
        WindowsNative.FlushViewOfFile(Address + offset, (nuint)length) ? 0 : WindowsNative.LastError; // In bounds: CheckRange.
}
