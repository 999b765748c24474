// Memory for input and output, in blocks of a power of two, free ones kept for the next taker. One pool for each worker,
// used on the worker's thread only, so there is nothing to lock.
//
//   I1  A block's bytes never move: the kernel reads and writes them while no managed code looks.
//   I2  A block is in one place: free here, or with the one who took it.
//   I3  The account counts a block from its making until it is given to the collector, whether in use or free.
//
// What is kept free is bounded, so that a burst does not hold its memory for ever.
using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Cairn.Server.Connections;

/// <summary>Bytes that do not move.</summary>
internal sealed unsafe class Block
{
    public Block(int bytes)
    {
        Array = GC.AllocateUninitializedArray<byte>(bytes, pinned: true);
        Pointer = (byte*)Marshal.UnsafeAddrOfPinnedArrayElement(Array, 0);
    }

    public byte[] Array { get; }

    /// <summary>Where the bytes are; valid as long as the block is referenced.</summary>
    public byte* Pointer { get; }

    public int Length => Array.Length;

    /// <summary>Who uses it, in a count that belongs to the user.</summary>
    public int References { get; set; }

    internal Block? NextFree { get; set; }
}

internal sealed class BlockPool
{
    public const int SmallestBytes = 256;
    private const int LargestKeptBytes = 1 << 20;
    private const int KeptBytes = 4 << 20;

    private static readonly int Classes = ClassOf(LargestKeptBytes) + 1;

    private readonly Block?[] _free = new Block?[Classes];
    private readonly MemoryAccount _account;
    private int _freeBytes;

    public BlockPool(MemoryAccount account) => _account = account;

    public MemoryAccount Account => _account;

    /// <summary>A block of at least this many bytes, with whatever is in them.</summary>
    public Block Rent(int atLeast)
    {
        int kind = ClassOf(atLeast);
        if (kind < Classes && _free[kind] is { } block)
        {
            _free[kind] = block.NextFree;
            block.NextFree = null;
            _freeBytes -= block.Length;
            return block;
        }

        return Make(atLeast, kind);
    }

    public void Return(Block block)
    {
        Debug.Assert(block.NextFree is null, "I2: it was returned before.");

        if (block.Length > LargestKeptBytes || _freeBytes + block.Length > KeptBytes)
        {
            _account.Add(-block.Length);
            return;
        }

        int kind = ClassOf(block.Length);
        block.NextFree = _free[kind];
        _free[kind] = block;
        _freeBytes += block.Length;
    }

    /// <summary>Gives all that is free to the collector.</summary>
    public void Clear()
    {
        System.Array.Clear(_free);
        _account.Add(-_freeBytes);
        _freeBytes = 0;
    }

    private static int ClassOf(int bytes) =>
        BitOperations.Log2(BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, SmallestBytes))) -
        BitOperations.Log2(SmallestBytes);

    private Block Make(int atLeast, int kind)
    {
        // Beyond what is kept, a power of two would waste too much; then whole MiB.
        long bytes = kind < Classes ? (long)SmallestBytes << kind : (atLeast + (1L << 20) - 1) & -(1L << 20);
        var block = new Block((int)Math.Min(bytes, System.Array.MaxLength));
        _account.Add(block.Length);
        return block;
    }
}
