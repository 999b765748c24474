// Buffers that the kernel takes for what it receives, in the order they were given: so none is tied to a connection that
// is silent. They are told to the kernel through a ring of its own (IORING_REGISTER_PBUF_RING).
//
//   I1  A buffer is the kernel's from Give until a completion names it, and the worker's from then until it is given again.
//   I2  Each place of the ring is written before the tail that covers it is published.
//
// Buffers lie a cache line further apart than they are long: at a power of two, their beginnings, which short requests use
// alone, would compete for a few sets of the cache.
using System.Runtime.InteropServices;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Server.Io.Uring;

internal sealed unsafe class UringBuffers : IDisposable
{
    public const int BufferBytes = 16 << 10;

    private const int StrideBytes = BufferBytes + 64;
    private const int FirstCount = 256;
    private const int PageBytes = 4096;

    // Where the tail lies: in the reserved field of the ring's first place (struct io_uring_buf_ring).
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

    /// <summary>Buffers that the kernel and the worker have now.</summary>
    public int Count { get; private set; }

    /// <summary>Registers a ring for so many buffers, a power of two, and gives the kernel some of them.</summary>
    /// <exception cref="ServerException">The kernel does not take it.</exception>
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
                ? "io_uring cannot be used: this kernel's is too old; it needs Linux 5.19 or later."
                : $"io_uring cannot be used: it takes no buffers: {LinuxErrors.Text(error)}.");
        }

        // Memory is used when a buffer is, so room for all of them costs nothing yet.
        byte* buffers = (byte*)NativeMemory.AlignedAlloc((nuint)mostCount * StrideBytes, PageBytes);
        var result = new UringBuffers(places, buffers, mostCount);
        result.Grow(FirstCount);
        return result;
    }

    public byte* AddressOf(int buffer) => _buffers + ((nint)buffer * StrideBytes);

    /// <summary>Gives a buffer back to the kernel, which sees it after <see cref="Publish"/>.</summary>
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

    /// <summary>The kernel ran out: from now on there are twice as many, if there is room.</summary>
    public void Double() => Grow(Count);

    /// <summary>
    /// Returns the pages of all buffers, which are zero from then on. The kernel writes into buffers only while this thread is in a call of
    /// the ring (DEFER_TASKRUN), so nothing is lost if no completion waits.
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
