namespace Cairn.Platform;

/// <summary>
/// The first bytes of a file in this process's memory. The address is valid for [0, Length) as far as the file reaches, until <see cref="Dispose"/>.
/// </summary>
internal abstract unsafe class MappedRegion : IDisposable
{
    /// <summary>Gets the address of byte 0 of the file, aligned to a page.</summary>
    public byte* Address { get; protected set; }

    /// <summary>Gets the length of the mapping in bytes, which can be more than the file has.</summary>
    public long Length { get; protected set; }

    /// <summary>
    /// Writes a range to the disk. When it returns, the range survives a loss of power. For the file's length, <see cref="StoreFile.FlushData"/> is also
    /// needed.
    /// </summary>
    public abstract void Flush(long offset, long length);

    /// <summary>Loads the pages of the range, so that the first access causes no page fault.</summary>
    /// <returns>False if the system cannot do it, or the file ends before the range does. Then only speed is lost.</returns>
    public abstract bool Populate(long offset, long length, bool write);

    /// <summary>Tells the system that reads are random, so that reading ahead from the disk is useless.</summary>
    public abstract void AdviseRandomAccess();

    /// <summary>Removes the mapping. No code may use <see cref="Address"/> afterwards.</summary>
    public abstract void Dispose();
}
