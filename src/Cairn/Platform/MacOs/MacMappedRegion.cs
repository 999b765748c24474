using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.MacOs;

internal sealed unsafe class MacMappedRegion : MappedRegion
{
    private readonly SafeFileHandle _file;
    private readonly string _path;
    private int _isUnmapped;

    private MacMappedRegion(SafeFileHandle file, string path, byte* address, long length)
    {
        _file = file;
        _path = path;
        Address = address;
        Length = length;
    }

    public static MacMappedRegion Map(SafeFileHandle file, string path, long length, int protection, int kind)
    {
        nint address = MacNative.Map(0, (nuint)length, protection, kind, file, 0);
        return address == -1
            ? throw MacErrors.Map(path, length, MacNative.LastError)
            : new MacMappedRegion(file, path, (byte*)address, length);
    }

    // msync passes the pages to the disk. Only the second call flushes the disk's own cache.
    public override void Flush(long offset, long length)
    {
        CheckRange(offset, length);
        if (length == 0)
        {
            return;
        }

        (nint start, nuint bytes) = WholePages(offset, length);
        int error = MacNative.Sync(Address + start, bytes, MacNative.SyncNow) == 0 ? MacStoreFile.SyncFully(_file) : MacNative.LastError;
        if (error != 0)
        {
            throw FileFailures.NotFlushed($"bytes {offset} to {offset + length} of the store '{_path}'", MacErrors.Text(error));
        }
    }

    // The system only reads ahead. The first access to a page still causes a page fault, but a short one.
    public override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        (nint start, nuint bytes) = WholePages(offset, length);
        return length == 0 || MacNative.Advise(Address + start, bytes, MacNative.AdviseWillNeed) == 0;
    }

    public override void AdviseRandomAccess()
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        _ = MacNative.Advise(Address, (nuint)Length, MacNative.AdviseRandom); // Only advice: if it is refused, only speed is lost.
    }

    public override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            _ = MacNative.Unmap(Address, (nuint)Length);
            Address = null; // A late access then faults at a null address, which the runtime reports. It does not read a foreign page.
            Length = 0;
        }
    }

    private static (nint Start, nuint Bytes) WholePages(long offset, long length)
    {
        long start = offset & -Environment.SystemPageSize;
        return ((nint)start, (nuint)(offset + length - start));
    }

    private void CheckRange(long offset, long length)
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);
    }
}
