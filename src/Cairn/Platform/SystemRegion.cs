namespace Cairn.Platform;

/// <summary>What the mappings of all systems have in common: the checks, and the end.</summary>
internal abstract unsafe class SystemRegion : MappedRegion
{
    private int _isUnmapped;

    protected SystemRegion(string path, byte* address, long length)
    {
        Path = path;
        Address = address;
        Length = length;
    }

    /// <summary>Gets the path of the file, for messages.</summary>
    protected string Path { get; }

    public sealed override void Flush(long offset, long length)
    {
        CheckRange(offset, length);
        if (length != 0)
        {
            FlushRange(offset, length);
        }
    }

    public sealed override bool Populate(long offset, long length, bool write)
    {
        CheckRange(offset, length);
        return length == 0 || PopulateRange(offset, length, write);
    }

    public sealed override void AdviseRandomAccess()
    {
        ObjectDisposedException.ThrowIf(_isUnmapped != 0, this);
        AdviseRandom(); // Only advice: if it is refused, only speed is lost.
    }

    public sealed override void Dispose()
    {
        if (Interlocked.Exchange(ref _isUnmapped, 1) == 0)
        {
            Unmap();
            Address = null; // A late access then faults at a null address, which the runtime reports. It does not read a foreign page.
            Length = 0;
        }
    }

    /// <summary>Writes a range within the mapping to the disk.</summary>
    protected abstract void FlushRange(long offset, long length);

    /// <summary>Loads the pages of a range within the mapping. Returns false if the system cannot do it.</summary>
    protected abstract bool PopulateRange(long offset, long length, bool write);

    protected abstract void AdviseRandom();

    protected abstract void Unmap();

    /// <summary>Returns the start and the length in bytes of the pages that have a range.</summary>
    protected static (nint Start, nuint Bytes) WholePages(long offset, long length)
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
