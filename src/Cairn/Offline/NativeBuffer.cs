using System.Runtime.InteropServices;

namespace Cairn.Offline;

/// <summary>Memory of this process into which parts of a file are copied. What is in it does not change under whoever looks at it.</summary>
internal sealed unsafe class NativeBuffer : IDisposable
{
    private byte* _start;
    private long _capacity;

    ~NativeBuffer()
    {
        NativeMemory.AlignedFree(_start);
    }

    /// <summary>At least as many bytes as were last reserved, on a cache line's boundary.</summary>
    public byte* Start => _start;

    /// <summary>Makes room for <paramref name="bytes"/>. What was in the buffer, and pointers into it, are gone if it has to grow.</summary>
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
