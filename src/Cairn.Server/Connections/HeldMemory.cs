using Cairn.Server.Buffers;

namespace Cairn.Server.Connections;

/// <summary>The memory that a session holds beyond the current input and output: queued requests, names, keys, waiting messages. It
/// counts against the limit of all connections. Worker only, except <see cref="Bytes"/> and <see cref="CountMessage"/>.</summary>
internal sealed class HeldMemory(BlockPool pool, LongReplies? replies)
{
    private long _charged;
    private long _rented;
    private long _messages;
    private bool _isReleased;

    /// <summary>Creates an instance with its own memory and without turns, for tests of sessions.</summary>
    public HeldMemory()
        : this(new BlockPool(new MemoryAccount(long.MaxValue)), replies: null)
    {
    }

    /// <summary>Gets the number of bytes that the session holds. Thread-safe, approximate.</summary>
    public long Bytes => _charged + _rented + Volatile.Read(ref _messages);

    public MemoryAccount Account => pool.Account;

    /// <summary>Gets or sets the length of the longest reply for which the client has memory that others cannot take. It is the number of
    /// bytes that the client has read without delay.</summary>
    public long Credit { get; set; }

    /// <summary>Returns whether there is memory for a reply of this many bytes.</summary>
    public bool HasMemoryFor(long bytes) => pool.Account.MayReply(bytes, Credit >= bytes);

    /// <summary>Returns whether the session creates a long reply of this many bytes now. If not, the session waits (
    /// <see cref="Session.AwaitedBytes"/>).</summary>
    public bool TryTakeReply(long bytes) => replies?.TryTake(bytes, Credit >= bytes) ?? HasMemoryFor(bytes);

    /// <summary>Gets the number of bytes that the copy of a value may take now.</summary>
    public long RoomForCopy => Math.Max(pool.Account.RoomForCopies(hasCredit: false), Math.Min(pool.Account.RoomForCopies(hasCredit: true), Credit));

    /// <summary>Counts heap memory that the session now holds or, with a negative number, has released.</summary>
    public void Charge(long bytes)
    {
        if (_isReleased)
        {
            return; // The account already has everything back. A session that has ended releases its last memory over several turns.
        }

        _charged += bytes;
        pool.Account.Add(bytes);
        pool.Account.CountHeap(Math.Max(bytes, 0));
    }

    /// <summary>Counts a message that waits for the session or, with negative numbers, waits no longer. Thread-safe.</summary>
    /// <param name="cost">The cost of the message in bytes, which the account has counted once for all its receivers.</param>
    /// <param name="place">The cost in bytes of its place in the session's queue.</param>
    public void CountMessage(long cost, long place)
    {
        Interlocked.Add(ref _messages, cost + place);
        pool.Account.Add(place);
    }

    /// <summary>Takes a block. The account counts the block itself.</summary>
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

    /// <summary>Releases all counted memory after the session has ended and its blocks have been returned.</summary>
    public void Release()
    {
        Charge(-_charged);
        _isReleased = true;
    }
}
