namespace Cairn.Server.Buffers;

// The bytes that connections make the server hold, counted over all workers.
//
//   replies    in blocks of their own: long values, and output that a client does not read at once
//   the rest   incomplete requests, queued requests, messages, subscriptions, keys that clients track
//
// A reply waits while there is no memory for it. Nothing else can wait, so the connection that holds it is closed.
//
//   I1  Replies take at most three quarters of the limit, plus the eighth of I3. The rest takes at most three quarters. So neither can
//       stop the other.
//   I2  If no reply holds memory, the next one gets it, whatever its length. So each waiting reply is created eventually.
//   I3  An eighth of the limit is reserved for clients that read what they are sent. Clients that do not read cannot use it up.

/// <summary>The memory of all connections, and its limit. Thread-safe.</summary>
internal sealed class MemoryAccount(long limit)
{
    private long _bytes;
    private long _replyBytes;
    private long _heapBytes;

    /// <summary>Gets the largest number of bytes.</summary>
    public long Limit => limit;

    /// <summary>Gets the number of all bytes, including free blocks.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Gets the number of bytes of replies.</summary>
    public long ReplyBytes => Volatile.Read(ref _replyBytes);

    // A stale value in the following properties lets one more request through, or makes one wait until the next turn.

    /// <summary>Gets whether connections with waiting replies get only little more memory for now.</summary>
    public bool IsShort => Bytes > Share;

    public bool IsExceeded => Bytes > limit;

    /// <summary>Gets whether connections that hold memory which cannot wait must be closed (I1).</summary>
    public bool IsHeldExceeded => Bytes > limit || Bytes - ReplyBytes > Share;

    private long Share => limit - (limit / 4);

    private long Reserve => limit / 8;

    /// <summary>Returns whether a reply may take this many more bytes.</summary>
    /// <param name="bytes">The length of the reply.</param>
    /// <param name="hasCredit">Whether the client has read as many bytes without delay.</param>
    public bool MayReply(long bytes, bool hasCredit)
    {
        bool hasRoom = hasCredit
            ? Bytes + bytes <= limit && ReplyBytes + bytes <= Share + Reserve
            : Bytes + bytes <= limit - Reserve && ReplyBytes + bytes <= Share; // I1, I3
        return hasRoom || ReplyBytes == 0; // I2
    }

    /// <summary>Returns the number of bytes that copies of values may still take. Copies leave half of the limit to requests and replies.
    /// Copies for clients that read without delay leave an eighth.</summary>
    /// <param name="hasCredit">Whether the copy is for such a client.</param>
    public long RoomForCopies(bool hasCredit) => (hasCredit ? limit - Reserve : limit / 2) - Bytes;

    public void Add(long bytes) => Interlocked.Add(ref _bytes, bytes);

    /// <summary>Gets the number of heap bytes that connections have allocated since the start. Some of them are garbage by now.</summary>
    public long HeapBytes => Volatile.Read(ref _heapBytes);

    /// <summary>Counts heap bytes that a connection has allocated.</summary>
    public void CountHeap(long bytes) => Interlocked.Add(ref _heapBytes, bytes);

    /// <summary>Counts a block that a reply has taken or, with a negative number, returned.</summary>
    public void AddReply(long bytes) => Interlocked.Add(ref _replyBytes, bytes);
}
