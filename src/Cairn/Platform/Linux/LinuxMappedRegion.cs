using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Linux;

internal sealed unsafe class LinuxMappedRegion : SystemRegion
{
    // The range is populated in steps. So a signal, of which the runtime sends some, only costs one step.
    private const long PopulateStepBytes = 32L << 20;


    private LinuxMappedRegion(string path, byte* address, long length)
        : base(path, address, length)
    {
    }

    public static LinuxMappedRegion Map(SafeFileHandle file, string path, long length, int protection, int kind)
    {
        nint address = LinuxNative.Map(0, (nuint)length, protection, kind, file, 0);
        return address == -1
            ? throw LinuxErrors.Map(path, length, LinuxNative.LastError)
            : new LinuxMappedRegion(path, (byte*)address, length);
    }

    protected override void FlushRange(long offset, long length)
    {
        (nint start, nuint bytes) = WholePages(offset, length);
        if (LinuxNative.Sync(Address + start, bytes, LinuxNative.SyncNow) != 0)
        {
            throw FileFailures.NotFlushed($"bytes {offset} to {offset + length} of the store '{Path}'", LinuxErrors.Text(LinuxNative.LastError));
        }
    }

    protected override bool PopulateRange(long offset, long length, bool write)
    {
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

    protected override void AdviseRandom() => _ = LinuxNative.Advise(Address, (nuint)Length, LinuxNative.AdviseRandom);

    protected override void Unmap() => _ = LinuxNative.Unmap(Address, (nuint)Length);
}
