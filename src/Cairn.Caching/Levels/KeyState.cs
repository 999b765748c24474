namespace Cairn.Caching.Levels;

// A key of the second level of which a ChangeLedger knows more than that. Everything of it is the ledger's, and under its lock.
internal sealed class KeyState
{
    private LinkedListNode<KeyState>? _queueNode;
    private LinkedListNode<KeyState>? _writeNode;
    private LinkedListNode<KeyState>? _unprovenNode;

    public string Key { get; private set; } = "";

    public PendingChange Newest { get; set; } = null!;

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
    public bool IsSettled => IsMade && LateCalls == 0 && !IsUnproven;

    /// <summary>Something is under way, or will be.</summary>
    public bool IsPending => IsRunning || IsOwed || LateCalls > 0;

    /// <summary>When the last of them was given up.</summary>
    public long WatchedSince { get; set; }

    /// <summary>No longer in the ledger.</summary>
    public bool IsForgotten { get; set; }

    /// <summary>A call for it was given up, or it was owed: others may refer to it when it is forgotten.</summary>
    public bool WasLate { get; set; }

    /// <summary>Forgotten because a new era began.</summary>
    public bool IsOverflown { get; set; }

    /// <summary>Takes up a key.</summary>
    public void Begin(string key, PendingChange newest)
    {
        Key = key;
        Newest = newest;
        IsMade = false;
        IsForgotten = false;
    }

    public LinkedListNode<KeyState> QueueNode => _queueNode ??= new(this);

    public LinkedListNode<KeyState> WriteNode => _writeNode ??= new(this);

    /// <summary>In a list: what others did is being watched for (I6).</summary>
    public LinkedListNode<KeyState> UnprovenNode => _unprovenNode ??= new(this);

    /// <summary>It waits to be made.</summary>
    public bool IsQueued => _queueNode?.List is not null;

    /// <summary>It is a write that counts for the bounds.</summary>
    public bool IsInWrites => _writeNode?.List is not null;

    /// <summary>What others did is being watched for.</summary>
    public bool IsUnproven => _unprovenNode?.List is not null;
}
