namespace Cairn.Caching.Levels;

// The state of a key in the write-behind queue (WriteBehindQueue). All members belong to the queue and are used under its lock.
internal sealed class KeyState
{
    private LinkedListNode<KeyState>? _queueNode;
    private LinkedListNode<KeyState>? _writeNode;
    private LinkedListNode<KeyState>? _unconfirmedNode;

    public string Key { get; private set; } = "";

    public PendingChange Newest { get; set; } = null!;

    /// <summary>A change is being made (I1).</summary>
    public bool IsRunning { get; set; }

    /// <summary>A change is pending: it was reported to a caller, and the second level does not have it (I2).</summary>
    public bool HasPendingChange { get; set; }

    /// <summary>The second level has the newest change.</summary>
    public bool IsMade { get; set; }

    /// <summary>The number of abandoned calls that are still running (I3).</summary>
    public int LateCalls { get; set; }

    /// <summary>An abandoned call ended while the newest change was being made.</summary>
    public bool IsDisturbed { get; set; }

    /// <summary>The moment at which the second level got the newest change.</summary>
    public long MadeAt { get; set; }

    /// <summary>The second level has the newest change, no call can undo it, and it has undone no other change.</summary>
    public bool IsSettled => IsMade && LateCalls == 0 && !IsUnconfirmed;

    /// <summary>A change or an abandoned call is under way, or a change is pending.</summary>
    public bool IsPending => IsRunning || HasPendingChange || LateCalls > 0;

    /// <summary>The moment at which the last call was abandoned.</summary>
    public long WatchedSince { get; set; }

    /// <summary>The state is no longer in the queue.</summary>
    public bool IsForgotten { get; set; }

    /// <summary>
    /// A call for the key was abandoned, or its change was pending: other objects may still refer to this state when it is forgotten.
    /// </summary>
    public bool WasLate { get; set; }

    /// <summary>The state was forgotten because a new era began.</summary>
    public bool IsOverflown { get; set; }

    /// <summary>Initializes the state for a key.</summary>
    public void Begin(string key, PendingChange newest)
    {
        Key = key;
        Newest = newest;
        IsMade = false;
        IsForgotten = false;
    }

    public LinkedListNode<KeyState> QueueNode => _queueNode ??= new(this);

    public LinkedListNode<KeyState> WriteNode => _writeNode ??= new(this);

    /// <summary>The node in the list of unconfirmed changes, which are watched for changes of other machines (I6).</summary>
    public LinkedListNode<KeyState> UnconfirmedNode => _unconfirmedNode ??= new(this);

    /// <summary>The change waits to be made.</summary>
    public bool IsQueued => _queueNode?.List is not null;

    /// <summary>The change is a pending write that counts towards the limits.</summary>
    public bool IsInWrites => _writeNode?.List is not null;

    /// <summary>The change is unconfirmed: it is watched for changes of other machines.</summary>
    public bool IsUnconfirmed => _unconfirmedNode?.List is not null;
}
