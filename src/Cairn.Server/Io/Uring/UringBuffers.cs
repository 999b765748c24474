// Buffers into which the kernel receives, taken in the order in which they were given. So a silent connection occupies no buffer. The
// kernel gets the buffers through a ring of their own (IORING_REGISTER_PBUF_RING).
//
//   I1  A buffer belongs to the kernel from Give until a completion names it, and then to the worker until it is given again.
//   I2  Each place of the ring is written before the tail that covers it is published.
//
// The distance between two buffers is a cache line longer than a buffer. Short requests use only the beginnings of buffers. At a distance
// of a power of two, the beginnings would compete for a few sets of the CPU's cache.
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Server.Io.Uring;

internal sealed unsafe class UringBuffers : IDisposable
{
    public const int BufferBytes = 16 << 10;

    private const int StrideBytes = BufferBytes + 64;
    private const int FirstCount = 256;
    private const int PageBytes = 4096;

    // The offset of the tail: the reserved field of the ring's first place (struct io_uring_buf_ring).
    private const int TailOffset = 14;

    private readonly byte* _buffers;
    private readonly byte* _ring;
    private readonly int _mostCount;
    private ushort _tail;

    private UringBuffers(byte* ring, byte* buffers, int count)
    {
        _ring = ring;
        _buffers = buffers;
        _mostCount = count;
    }

    /// <summary>Gets the number of buffers that the kernel and the worker have now.</summary>
    public int Count { get; private set; }

    /// <summary>Registers a ring for this many buffers, a power of two, and gives the kernel some of them.</summary>
    /// <exception cref="ServerException">The kernel does not accept it.</exception>
    public static UringBuffers Register(SafeFileHandle ring, ushort group, int mostCount)
    {
        byte* places = (byte*)NativeMemory.AlignedAlloc((nuint)(mostCount * sizeof(UringNative.ProvidedBuffer)), PageBytes);
        NativeMemory.Clear(places, (nuint)(mostCount * sizeof(UringNative.ProvidedBuffer)));
        var registration = new UringNative.BufferRingRegistration
        {
            Address = (ulong)places,
            Entries = (uint)mostCount,
            Group = group,
        };
        int error = -UringNative.Register(ring, UringNative.RegisterBufferRing, &registration, 1);
        if (error > 0)
        {
            NativeMemory.AlignedFree(places);
            throw new ServerException(error == LinuxErrors.Invalid
                ? "io_uring cannot be used: the kernel is too old; Linux 5.19 or later is needed."
                : $"io_uring cannot be used: it takes no buffers: {LinuxErrors.Text(error)}.");
        }

        // The system allocates a page when it is first used, so address space for all buffers costs no memory yet.
        byte* buffers = (byte*)NativeMemory.AlignedAlloc((nuint)mostCount * StrideBytes, PageBytes);
        var result = new UringBuffers(places, buffers, mostCount);
        result.Grow(FirstCount);
        return result;
    }

    public byte* AddressOf(int buffer) => _buffers + ((nint)buffer * StrideBytes);

    /// <summary>Gives a buffer back to the kernel. The kernel sees it after <see cref="Publish"/>.</summary>
    public void Give(int buffer)
    {
        var place = (UringNative.ProvidedBuffer*)_ring + (_tail++ & (_mostCount - 1));

        // Field by field: the first place's last field is the tail.
        place->Address = (ulong)AddressOf(buffer);
        place->Length = BufferBytes;
        place->Id = (ushort)buffer;
    }

    public void Publish() =>
        // Release; pairs with the kernel's acquire (I2).
        Volatile.Write(ref *(ushort*)(_ring + TailOffset), _tail);

    /// <summary>Doubles the number of buffers, up to the maximum, because the kernel ran out of them.</summary>
    public void Double() => Grow(Count);

    /// <summary>
    /// Returns the pages of all buffers to the system. Their content is zero afterwards. The kernel writes into buffers only while this
    /// thread is in a call of the ring (DEFER_TASKRUN), so no input is lost if no completion waits.
    /// </summary>
    public void Trim() =>
        _ = LinuxNative.Advise(_buffers, (nuint)Count * StrideBytes / PageBytes * PageBytes, LinuxNative.AdviseDrop);

    public void Dispose()
    {
        NativeMemory.AlignedFree(_ring);
        NativeMemory.AlignedFree(_buffers);
    }

    private void Grow(int more)
    {
        int count = Math.Min(_mostCount, Count + more);
        for (int buffer = Count; buffer < count; buffer++)
        {
            Give(buffer);
        }

        Count = count;
        Publish();
    }
}
