using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

/// <summary>A view of a section of the file. All views of one local file show the same bytes, even if they belong to different sections.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsMappedRegion : MappedRegion
{
    // Other code that works on the pages can lock them for an instant. The system then returns an error instead of waiting.
    private const int MaxFlushAttempts = 10;

    private readonly SafeFileHandle _file;
    private readonly string _path;
    private int _isUnmapped;

    private WindowsMappedRegion(SafeFileHandle file, string path, byte* address, long length)
    {
        _file = file;
        _path = path;
        Address = address;
        Length = length;
    }

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
    public override void Flush(long offset, long length)
    {
        CheckRange(offset, length);
        if (length == 0)
        {
            return;
        }

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
            throw FileFailures.NotFlushed($"bytes {offset} to {offset + length} of the store '{_path}'", WindowsErrors.Text(error));
        }
    }

    // The system only reads ahead. The first access to a page still causes a page fault, but a short one.
    public override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        var range = new WindowsNative.MemoryRange { Address = Address + offset, Bytes = (nuint)length };
        return length == 0 || WindowsNative.PrefetchVirtualMemory(WindowsNative.GetCurrentProcess(), 1, &range, 0);
    }

    public override void AdviseRandomAccess() => ObjectDisposedException.ThrowIf(_isUnmapped != 0, this); // Windows has no such advice for views.

    public override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            _ = WindowsNative.UnmapViewOfFile(Address);
            Address = null; // A late access then faults at a null address, which the runtime reports. It does not read a foreign page.
            Length = 0;
        }
    }

    private int FlushView(long offset, long length) =>
        WindowsNative.FlushViewOfFile(Address + offset, (nuint)length) ? 0 : WindowsNative.LastError; // In bounds: CheckRange.

    private void CheckRange(long offset, long length)
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);
    }
}
