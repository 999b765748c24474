namespace Cairn.Platform;

/// <summary>The first bytes of a file in this process's memory. The pointer is good for [0, Length) that the file
/// covers, until <see cref="Dispose"/>.</summary>
internal abstract unsafe class MappedRegion : IDisposable
{
    /// <summary>Where byte 0 of the file is, aligned to a page.</summary>
    public byte* Address { get; protected set; }

    /// <summary>Bytes of address space, which may be more than the file has.</summary>
    public long Length { get; protected set; }

    /// <summary>Returns when the range would survive a power loss, up to <see cref="StoreFile.FlushData"/> for the
    /// file's length.</summary>
    public abstract void Flush(long offset, long length);

    /// <summary>Brings the pages of the range in, so that a first touch costs no fault.</summary>
    /// <returns>False if the system cannot, or the file ends before the range does: nothing is lost but speed.</returns>
    public abstract bool Populate(long offset, long length, bool write);

    /// <summary>Says that reads jump about, so that reading ahead from disk is waste.</summary>
    public abstract void AdviseRandomAccess();

    /// <summary>Unmaps. Nothing may use <see cref="Address"/> from now on.</summary>
    public abstract void Dispose();
}
