namespace Cairn.Server.Connections;

// Bytes that connections make the server hold, counted over all workers.
//
//   replies       in blocks of their own: long values, and whatever a client does not take at once
//   the rest      requests that are not complete, queued requests, messages, subscriptions, keys that clients track
//
// A reply waits while there is no memory for it. Nothing else can wait, so the connection that holds it is closed.
//
//   I1  Replies take at most three quarters of the limit, and the eighth of I3. The rest takes at most three quarters. So neither keeps the
//       other from going on.
//   I2  If no reply holds memory, the next one gets it, whatever its length. So a waiting reply is made sooner or later.
//   I3  An eighth of the limit is for clients that read what they are sent. So clients that do not read leave them some.

/// <summary>The memory of all connections, and its limit. Any thread.</summary>
internal sealed class MemoryAccount(long limit)
{
    private long _bytes;
    private long _replyBytes;
    private long _heapBytes;

    /// <summary>All bytes, those of free blocks counted.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Bytes of replies.</summary>
    public long ReplyBytes => Volatile.Read(ref _replyBytes);

    // A stale value in the properties below lets one request more through, or lets one wait for no reason until the next turn.

    /// <summary>Whether connections whose replies wait get little more for now.</summary>
    public bool IsShort => Bytes > Share;

    public bool IsExceeded => Bytes > limit;

    /// <summary>Whether connections that hold what cannot wait must be closed (I1).</summary>
    public bool IsHeldExceeded => Bytes > limit || Bytes - ReplyBytes > Share;

    private long Share => limit - (limit / 4);

    private long Reserve => limit / 8;

    /// <summary>Whether a reply may take so much more.</summary>
    /// <param name="bytes">Bytes of the reply.</param>
    /// <param name="hasCredit">Whether its client has read as many bytes without delay.</param>
    /// <param name="others">Bytes of replies that were let go on just now, and are not counted yet.</param>
    public bool MayReply(long bytes, bool hasCredit, long others = 0)
    {
        long more = others + bytes;
        bool hasRoom = hasCredit
            ? Bytes + more <= limit && ReplyBytes + more <= Share + Reserve
            : Bytes + more <= limit - Reserve && ReplyBytes + more <= Share; // I1, I3
        return hasRoom || (others == 0 && ReplyBytes == 0); // I2
    }

    /// <summary>Bytes that copies of values may still take. They leave half of the limit to requests and replies, and those of clients that
    /// read what they are sent an eighth.</summary>
    /// <param name="hasCredit">Whether the copy is for such a client.</param>
    public long RoomForCopies(bool hasCredit) => (hasCredit ? limit - Reserve : limit / 2) - Bytes;

    public void Add(long bytes) => Interlocked.Add(ref _bytes, bytes);

    /// <summary>Bytes of the heap that connections took since the start. Some of them are garbage by now.</summary>
    public long HeapBytes => Volatile.Read(ref _heapBytes);

    /// <summary>A connection took so much of the heap.</summary>
    public void CountHeap(long bytes) => Interlocked.Add(ref _heapBytes, bytes);

    /// <summary>A reply took a block, or gave it back.</summary>
    public void AddReply(long bytes) => Interlocked.Add(ref _replyBytes, bytes);
}
