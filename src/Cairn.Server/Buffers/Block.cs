// Native memory, outside the garbage collector's heap. It is returned to the system when it is freed, not at the next collection. The
// kernel may read and write it at any time.
//
//   I1  A block's bytes never move.
//   I2  A block is freed once: by its pool, or by the finalizer if its user lost it.
using Cairn.Platform.Linux;

namespace Cairn.Server.Buffers;

/// <summary>A block of native memory, which never moves.</summary>
internal sealed unsafe class Block
{
    // From this size on, a block has its own pages, so freeing it returns them at once. An allocator may keep them.
    private const int MappedBytes = 64 << 10;

    private BlockMemory? _memory;

    public Block(int bytes)
    {
        Length = bytes;
        Pointer = IsMapped ? Map(bytes) : (byte*)NativeMemory.Alloc((nuint)bytes);
    }

    ~Block() => Release();

    /// <summary>Gets the address of the bytes; valid until the block is freed.</summary>
    public byte* Pointer { get; private set; }

    public int Length { get; }

    public Span<byte> Span => new(Pointer, Length);

    /// <summary>Gets the bytes for interfaces that do not take spans. Valid until the block is freed.</summary>
    public Memory<byte> Memory => (_memory ??= new BlockMemory(this)).Memory;

    /// <summary>Gets or sets a number of users. The present user of the block defines its meaning.</summary>
    public int References { get; set; }

    internal Block? NextFree { get; set; }

    private bool IsMapped => OperatingSystem.IsLinux() && Length >= MappedBytes;

    /// <summary>Returns the memory to the system.</summary>
    public void Free()
    {
        Release();
#pragma warning disable CA1816 // Not IDisposable: a block has several owners in turn, and the pool decides when its memory is freed.
        GC.SuppressFinalize(this);
#pragma warning restore CA1816
    }

    private static byte* Map(int bytes)
    {
        nint address = LinuxNative.MapMemory(
            0, (nuint)bytes, LinuxNative.ProtectRead | LinuxNative.ProtectWrite, LinuxNative.MapPrivate | LinuxNative.MapAnonymous, -1, 0);
        return address == -1
            ? throw new ServerException($"The system has no {bytes:N0} bytes for a buffer: {LinuxErrors.Text(Marshal.GetLastPInvokeError())}.")
            : (byte*)address;
    }

    private void Release()
    {
        byte* pointer = Pointer;
        if (pointer is null)
        {
            return;
        }

        Pointer = null;
        if (IsMapped)
        {
            _ = LinuxNative.Unmap(pointer, (nuint)Length);
        }
        else
        {
            NativeMemory.Free(pointer);
        }
    }

    private sealed class BlockMemory(Block block) : MemoryManager<byte>
    {
        public override Span<byte> GetSpan() => block.Span;

        public override MemoryHandle Pin(int elementIndex = 0) => new(block.Pointer + elementIndex);

        public override void Unpin()
        {
            // I1
        }

        protected override void Dispose(bool disposing)
        {
            // The owner of the block frees it.
        }
    }
}
