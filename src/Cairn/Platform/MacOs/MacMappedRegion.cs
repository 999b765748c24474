using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.MacOs;

internal sealed unsafe class MacMappedRegion : SystemRegion
{
    private readonly SafeFileHandle _file;

    private MacMappedRegion(SafeFileHandle file, string path, byte* address, long length)
        : base(path, address, length) => _file = file;

    public static MacMappedRegion Map(SafeFileHandle file, string path, long length, int protection, int kind)
    {
        nint address = MacNative.Map(0, (nuint)length, protection, kind, file, 0);
        return address == -1
            ? throw MacErrors.Map(path, length, MacNative.LastError)
            : new MacMappedRegion(file, path, (byte*)address, length);
    }

    // msync passes the pages to the disk. Only the second call flushes the disk's own cache.
    protected override void FlushRange(long offset, long length)
    {
        (nint start, nuint bytes) = WholePages(offset, length);
        int error = MacNative.Sync(Address + start, bytes, MacNative.SyncNow) == 0 ? MacStoreFile.SyncFully(_file) : MacNative.LastError;
        if (error != 0)
        {
            throw FileFailures.NotFlushed($"bytes {offset} to {offset + length} of the store '{Path}'", MacErrors.Text(error));
        }
    }

    // The system only reads ahead. The first access to a page still causes a page fault, but a short one.
    protected override bool PopulateRange(long offset, long length, bool write)
    {
        (nint start, nuint bytes) = WholePages(offset, length);
        return MacNative.Advise(Address + start, bytes, MacNative.AdviseWillNeed) == 0;
    }

    protected override void AdviseRandom() => _ = MacNative.Advise(Address, (nuint)Length, MacNative.AdviseRandom);

    protected override void Unmap() => _ = MacNative.Unmap(Address, (nuint)Length);
}
