using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Linux;

internal sealed unsafe class LinuxMappedRegion : MappedRegion
{
    // The range is populated in steps. So a signal, of which the runtime sends some, only costs one step.
    private const long PopulateStepBytes = 32L << 20;

    private readonly string _path;
    private int _isUnmapped;

    private LinuxMappedRegion(string path, byte* address, long length)
    {
        _path = path;
        Address = address;
        Length = length;
    }

    public static LinuxMappedRegion Map(SafeFileHandle file, string path, long length, int protection, int kind)
    {
        nint address = LinuxNative.Map(0, (nuint)length, protection, kind, file, 0);
        return address == -1
            ? throw LinuxErrors.Map(path, length, LinuxNative.LastError)
            : new LinuxMappedRegion(path, (byte*)address, length);
    }

    public override void Flush(long offset, long length)
    {
        CheckRange(offset, length);
        if (length == 0)
        {
            return;
        }

        (nint start, nuint bytes) = WholePages(offset, length);
        if (LinuxNative.Sync(Address + start, bytes, LinuxNative.SyncNow) != 0)
        {
            throw LinuxErrors.Failed(
                $"Writing bytes {offset} to {offset + length} of the store '{_path}' to disk failed; its last changes " +
                "may be lost if the machine stops. Check the disk",
                LinuxNative.LastError);
        }
    }

    public override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        int advice = write ? LinuxNative.AdvisePopulateWrite : LinuxNative.AdvisePopulateRead;
        for (long done = 0; done < length; done += PopulateStepBytes)
        {
            (nint start, nuint bytes) = WholePages(offset + done, Math.Min(PopulateStepBytes, length - done));
            while (LinuxNative.Advise(Address + start, bytes, advice) != 0)
            {
                // Before Linux 5.14 the advice is unknown. Past the file's end the call fails without a fault.
                if (LinuxNative.LastError is not (LinuxErrors.Interrupted or LinuxErrors.TryAgain))
                {
                    return false;
                }
            }
        }

        return true;
    }

    public override void AdviseRandomAccess()
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        _ = LinuxNative.Advise(Address, (nuint)Length, LinuxNative.AdviseRandom); // Only advice: if it is refused, only speed is lost.
    }

    public override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            _ = LinuxNative.Unmap(Address, (nuint)Length);
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
