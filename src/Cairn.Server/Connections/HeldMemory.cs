namespace Cairn.Server.Connections;

/// <summary>What a session holds beyond the input and the output at hand: queued requests, names, keys. It counts against the limit of all
/// connections. Worker only, except <see cref="Bytes"/>.</summary>
internal sealed class HeldMemory(BlockPool pool)
{
    private long _charged;
    private long _rented;

    /// <summary>Memory of its own, for tests of sessions.</summary>
    public HeldMemory()
        : this(new BlockPool(new MemoryAccount(long.MaxValue)))
    {
    }

    /// <summary>Any thread, approximately.</summary>
    public long Bytes => _charged + _rented;

    public MemoryAccount Account => pool.Account;

    /// <summary>The longest reply for which the client has memory that others cannot take: as much as it has read without delay.</summary>
    public long Credit { get; set; }

    /// <summary>Whether a reply may take so many bytes now.</summary>
    /// <param name="bytes">Of the reply.</param>
    /// <param name="others">Bytes of replies that were let go on just now, and are not counted yet.</param>
    public bool MayReply(long bytes, long others = 0) => pool.Account.MayReply(bytes, Credit >= bytes, others);

    /// <summary>Bytes that the copy of a value may take now.</summary>
    public long RoomForCopy => Math.Max(pool.Account.RoomForCopies(hasCredit: false), Math.Min(pool.Account.RoomForCopies(hasCredit: true), Credit));

    /// <summary>Counts memory of the heap that is held from now on, or, with a negative number, no more.</summary>
    public void Charge(long bytes)
    {
        _charged += bytes;
        pool.Account.Add(bytes);
        pool.Account.CountHeap(Math.Max(bytes, 0));
    }

    /// <summary>Takes a block, which the account counts by itself.</summary>
    public Block Rent(int atLeast)
    {
        Block block = pool.Rent(atLeast);
        _rented += block.Length;
        return block;
    }

    public void Return(Block block)
    {
        _rented -= block.Length;
        pool.Return(block);
    }

    /// <summary>The session has ended, and its blocks were returned.</summary>
    public void Release() => Charge(-_charged);
}
