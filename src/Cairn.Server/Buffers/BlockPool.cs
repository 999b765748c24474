// Memory for input and output, in blocks of a few sizes: powers of two, and above 64 KiB also the three steps between two of them, because a
// value of 1 MiB with its header would otherwise take 2 MiB. Free blocks are kept for reuse. Each worker has its own pool, used only on the
// worker's thread, so there are no locks.
//
//   I1  A block is in one place: free in the pool, or with its user.
//   I2  The account counts a block from its allocation until it is freed, used or not.
//   I3  Free blocks take at most KeptBytes. While memory is short, they take at most an eighth of the limit divided by the number of processors, or
//       LargestKeptBytes if that is more. They are kept because the kernel takes longer for the pages of a new block than the copy takes.
//       A block that stayed free from one trim to the next is freed.
namespace Cairn.Server.Buffers;

internal sealed class BlockPool
{
    public const int SmallestBytes = 256;
    private const int LargestKeptBytes = 2 << 20;
    private const int KeptBytes = 4 << 20;

    // Up to here, blocks have powers of two. Each further doubling has four sizes.
    private const int LargestSimpleBytes = 64 << 10;

    private static readonly int Classes = ClassOf(LargestKeptBytes) + 1;

    private readonly Block?[] _free = new Block?[Classes];
    private readonly MemoryAccount _account;
    private int _freeBytes;
    private readonly int _keptWhenShort;
    private int _unusedBytes;

    public BlockPool(MemoryAccount account)
    {
        _account = account;
        _keptWhenShort = (int)Math.Clamp(account.Limit / 8 / Environment.ProcessorCount, LargestKeptBytes, KeptBytes);
    }

    public MemoryAccount Account => _account;

    /// <summary>Takes a block of at least this many bytes. Their content is undefined.</summary>
    public Block Rent(int atLeast)
    {
        int kind = ClassOf(atLeast);
        if (kind < Classes && _free[kind] is { } block)
        {
            _free[kind] = block.NextFree;
            block.NextFree = null;
            _freeBytes -= block.Length;
            _unusedBytes = Math.Min(_unusedBytes, _freeBytes);
            return block;
        }

        return Make(atLeast, kind);
    }

    public void Return(Block block)
    {
        Debug.Assert(block.NextFree is null, "I1: it was returned before.");

        if (block.Length > LargestKeptBytes || _freeBytes + block.Length > (_account.IsShort ? _keptWhenShort : KeptBytes))
        {
            Free(block);
            return;
        }

        int kind = ClassOf(block.Length);
        block.NextFree = _free[kind];
        _free[kind] = block;
        _freeBytes += block.Length;
    }

    /// <summary>Frees as many bytes of blocks as were free all the time since the last trim.</summary>
    public void Trim()
    {
        for (int kind = Classes - 1; kind >= 0 && _unusedBytes > 0; kind--)
        {
            while (_unusedBytes > 0 && _free[kind] is { } block)
            {
                _free[kind] = block.NextFree;
                _freeBytes -= block.Length;
                _unusedBytes -= block.Length;
                Free(block);
            }
        }

        _unusedBytes = _freeBytes;
    }

    /// <summary>Frees all free blocks.</summary>
    public void Clear()
    {
        _unusedBytes = _freeBytes;
        Trim();
    }

    /// <summary>Returns the size of the smallest kind of block that has this many bytes. A size above <see cref="LargestSimpleBytes"/> is a multiple
    /// of a quarter of the next lower power of two.</summary>
    private static long SizeOf(int atLeast)
    {
        if (atLeast <= LargestSimpleBytes)
        {
            return BitOperations.RoundUpToPowerOf2((uint)Math.Max(atLeast, SmallestBytes));
        }

        long step = 1L << (BitOperations.Log2((uint)atLeast - 1) - 2);
        return (atLeast + step - 1) & -step;
    }

    private static int ClassOf(int bytes)
    {
        long size = SizeOf(bytes);
        int power = BitOperations.Log2((ulong)size);
        return (4 * (power - BitOperations.Log2(SmallestBytes))) + ((int)(size >> (power - 2)) & 3);
    }

    private void Free(Block block)
    {
        _account.Add(-block.Length);
        block.Free();
    }

    private Block Make(int atLeast, int kind)
    {
        // Above the largest kept size, the size is rounded up to whole MiB.
        long bytes = kind < Classes ? SizeOf(atLeast) : (atLeast + (1L << 20) - 1) & -(1L << 20);
        var block = new Block((int)Math.Min(bytes, Array.MaxLength));
        _account.Add(block.Length);
        return block;
    }
}
