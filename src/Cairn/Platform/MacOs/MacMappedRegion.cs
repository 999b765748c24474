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

    // msync hands the pages to the disk, whose own cache only the second call empties.
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

    // Reads ahead; the first touch of a page still costs a fault, but a short one.
    public override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        (nint start, nuint bytes) = WholePages(offset, length);
        return length == 0 || MacNative.Advise(Address + start, bytes, MacNative.AdviseWillNeed) == 0;
    }

    public override void AdviseRandomAccess()
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        _ = MacNative.Advise(Address, (nuint)Length, MacNative.AdviseRandom); // Advice: a refusal costs speed only.
    }

    public override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            _ = MacNative.Unmap(Address, (nuint)Length);
            Address = null; // A late use faults at a null address, which the runtime reports; it does not read a stranger's page.
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
