using Cairn.Server.Buffers;

namespace Cairn.Server.Connections;

// Replies that need a block of their own wait for memory (MemoryAccount) and for their share of a turn (Worker I5). If both are available
// and no other connection waits, the reply is created at once. Otherwise its connection waits in the queue (Worker.Memory).

/// <summary>Decides which long replies a worker creates in this turn. Worker only.</summary>
internal sealed class LongReplies(MemoryAccount account)
{
    private TurnShare _share;

    /// <summary>Gets or sets the number of connections whose long reply waits.</summary>
    public int Waiting { get; set; }

    /// <summary>Gets or sets whether the connection that is served has waited for its long reply.</summary>
    public bool IsTurnOfWaiting { get; set; }

    /// <summary>Gets or sets whether connections are served together. Their short requests do not wait for a long reply.</summary>
    public bool IsTurnOfMany { get; set; }

    /// <summary>Gets whether this turn has room for another long reply.</summary>
    public bool HasRoom => _share.HasRoom;

    /// <summary>Begins a turn.</summary>
    public void Begin() => _share = default;

    /// <summary>Returns whether a reply of this many bytes is created now, and counts it if so.</summary>
    /// <param name="bytes">The length of the reply.</param>
    /// <param name="hasCredit">Whether the client has read as many bytes without delay.</param>
    public bool TryTake(long bytes, bool hasCredit)
    {
        bool isTaken = HasRoom && (IsTurnOfWaiting || (Waiting == 0 && !IsTurnOfMany)) && account.MayReply(bytes, hasCredit);
        if (isTaken)
        {
            _share.Count(bytes);
        }

        return isTaken;
    }
}
