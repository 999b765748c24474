namespace Cairn.Offline;

/// <summary>Memory of this process for copies of parts of a file. Other processes cannot change its content.</summary>
internal sealed unsafe class NativeBuffer : IDisposable
{
    private byte* _start;
    private long _capacity;

    ~NativeBuffer()
    {
        NativeMemory.AlignedFree(_start);
    }

    /// <summary>Gets the address of the buffer, on the boundary of a cache line. It has at least the number of bytes that was last reserved.</summary>
    public byte* Start => _start;

    /// <summary>
    /// Ensures room for <paramref name="bytes"/> bytes. If the buffer has to grow, its content is lost, and pointers into it become invalid.
    /// </summary>
    public byte* Reserve(long bytes)
    {
        if (bytes > _capacity)
        {
            NativeMemory.AlignedFree(_start);
            _start = null;
            _capacity = 0;
            _start = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, 64);
            _capacity = bytes;
        }

        return _start;
    }

    public byte* ReserveCleared(long bytes)
    {
        Reserve(bytes);
        NativeMemory.Clear(_start, (nuint)bytes);
        return _start;
    }

    public void Dispose()
    {
        NativeMemory.AlignedFree(_start);
        _start = null;
        _capacity = 0;
        GC.SuppressFinalize(this);
    }
}
