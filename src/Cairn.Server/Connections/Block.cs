// Memory of the system, not of the garbage collector: it goes back when it is freed, not when a collection happens to come by, and the
// kernel may read and write it at any time.
//
//   I1  A block's bytes never move.
//   I2  A block is freed once: by its pool, or by the finalizer if the one who took it was dropped.
using System.Buffers;
using System.Runtime.InteropServices;
using Cairn.Platform.Linux;

namespace Cairn.Server.Connections;

/// <summary>Bytes that do not move.</summary>
internal sealed unsafe class Block
{
    // From here on the pages are the block's alone, so that freeing it returns them at once. An allocator may keep them.
    private const int MappedBytes = 64 << 10;

    private BlockMemory? _memory;

    public Block(int bytes)
    {
        Length = bytes;
        Pointer = IsMapped ? Map(bytes) : (byte*)NativeMemory.Alloc((nuint)bytes);
    }

    ~Block() => Release();

    /// <summary>Where the bytes are; valid until the block is freed.</summary>
    public byte* Pointer { get; private set; }

    public int Length { get; }

    public Span<byte> Span => new(Pointer, Length);

    /// <summary>The bytes for interfaces that do not take spans. Valid as long as the block is.</summary>
    public Memory<byte> Memory => (_memory ??= new BlockMemory(this)).Memory;

    /// <summary>Who uses it, in a count that belongs to the user.</summary>
    public int References { get; set; }

    internal Block? NextFree { get; set; }

    private bool IsMapped => OperatingSystem.IsLinux() && Length >= MappedBytes;

    /// <summary>Gives the memory back to the system.</summary>
    public void Free()
    {
        Release();
#pragma warning disable CA1816 // Not IDisposable: a block has many owners in turn, and the pool, not the last of them, decides when its memory goes.
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
            // The block's to free.
        }
    }
}
