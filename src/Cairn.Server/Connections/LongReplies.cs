using Cairn.Server.Buffers;

namespace Cairn.Server.Connections;

// Replies that need a block of their own wait for memory (MemoryAccount) and for their share of a turn (Worker I5). If both are available
// and no other reply waits, the reply is created at once. Otherwise its connection waits in the queue (Worker.Memory).

/// <summary>Decides which long replies a worker creates in this turn. Worker only.</summary>
internal sealed class LongReplies(MemoryAccount account)
{
    private TurnShare _share;
    private bool _isTurnOfWaiting;

    /// <summary>Gets or sets the number of connections whose long reply waits.</summary>
    public int Waiting { get; set; }

    /// <summary>Gets whether this turn has room for another long reply.</summary>
    public bool HasRoom => _share.HasRoom;

    /// <summary>Begins a turn.</summary>
    public void Begin() => _share = default;

    /// <summary>Begins the share of the connections that wait.</summary>
    public void BeginWaiting()
    {
        _share = default;
        _isTurnOfWaiting = true;
    }

    /// <summary>Ends the share of the connections that wait.</summary>
    public void EndWaiting() => _isTurnOfWaiting = false;

    /// <summary>Returns whether a reply of this many bytes is created now, and counts it if so.</summary>
    /// <param name="bytes">The length of the reply.</param>
    /// <param name="hasCredit">Whether the client has read as many bytes without delay.</param>
    public bool TryTake(long bytes, bool hasCredit)
    {
        bool isTaken = HasRoom && (Waiting == 0 || _isTurnOfWaiting) && account.MayReply(bytes, hasCredit);
        if (isTaken)
        {
            _share.Count(bytes);
        }

        return isTaken;
    }
}
