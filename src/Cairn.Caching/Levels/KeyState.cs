namespace Cairn.Caching.Levels;

// A key of the second level of which a ChangeLedger knows more than that. Everything of it is the ledger's, and under its lock.
internal sealed class KeyState
{
    public KeyState(string key, PendingChange newest)
    {
        Key = key;
        Newest = newest;
        QueueNode = new(this);
        WriteNode = new(this);
        UnprovenNode = new(this);
    }

    public string Key { get; }

    public PendingChange Newest { get; set; }

    /// <summary>A change is being made (I1).</summary>
    public bool IsRunning { get; set; }

    /// <summary>Somebody was told of a change that the second level does not have (I2).</summary>
    public bool IsOwed { get; set; }

    /// <summary>The second level has the newest.</summary>
    public bool IsMade { get; set; }

    /// <summary>Calls that were given up and go on (I3).</summary>
    public int LateCalls { get; set; }

    /// <summary>One of them ended while the newest was being made.</summary>
    public bool IsDisturbed { get; set; }

    /// <summary>When the second level got the newest.</summary>
    public long MadeAt { get; set; }

    /// <summary>The second level has the newest, nothing can undo it, and it undid nothing.</summary>
    public bool IsSettled => IsMade && LateCalls == 0 && UnprovenNode.List is null;

    /// <summary>Something is under way, or will be.</summary>
    public bool IsPending => IsRunning || IsOwed || LateCalls > 0;

    /// <summary>When the last of them was given up.</summary>
    public long WatchedSince { get; set; }

    /// <summary>No longer in the ledger.</summary>
    public bool IsForgotten { get; set; }

    /// <summary>Forgotten because a new era began.</summary>
    public bool IsOverflown { get; set; }

    public LinkedListNode<KeyState> QueueNode { get; }

    public LinkedListNode<KeyState> WriteNode { get; }

    /// <summary>In a list: what others did is being watched for (I6).</summary>
    public LinkedListNode<KeyState> UnprovenNode { get; }
}
