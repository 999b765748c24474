using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

/// <summary>A view of a section of the file. Views of one local file show the same bytes, whichever section they are of.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsMappedRegion : MappedRegion
{
    // What else works on the pages may have them locked for an instant; the system says so instead of waiting.
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

    /// <summary>Maps bytes that the file has.</summary>
    public static WindowsMappedRegion Map(SafeFileHandle file, string path, long length, uint protection, uint access)
    {
        nint section = WindowsNative.CreateFileMappingW(file, 0, protection, (uint)(length >> 32), (uint)length, 0);
        if (section == 0)
        {
            throw WindowsErrors.Map(path, length, WindowsNative.LastError);
        }

        nint address = WindowsNative.MapViewOfFile(section, access, 0, 0, (nuint)length);
        int error = WindowsNative.LastError;
        _ = WindowsNative.CloseHandle(section); // The view keeps it.
        return address == 0
            ? throw WindowsErrors.Map(path, length, error)
            : new WindowsMappedRegion(file, path, (byte*)address, length);
    }

    // The first call starts the writing of the pages; only the second waits for it, and for the disk's own cache.
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

    // Reads ahead; the first touch of a page still costs a fault, but a short one.
    public override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        var range = new WindowsNative.MemoryRange { Address = Address + offset, Bytes = (nuint)length };
        return length == 0 || WindowsNative.PrefetchVirtualMemory(WindowsNative.GetCurrentProcess(), 1, &range, 0);
    }

    public override void AdviseRandomAccess() => ObjectDisposedException.ThrowIf(_isUnmapped != 0, this); // No such advice for views.

    public override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            _ = WindowsNative.UnmapViewOfFile(Address);
            Address = null; // A late use faults at a null address, which the runtime reports; it does not read a stranger's page.
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
