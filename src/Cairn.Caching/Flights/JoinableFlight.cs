using Cairn.Caching.Levels;

namespace Cairn.Caching.Flights;

/// <summary>A flight that other callers can join. It is cancelled when all its callers have cancelled.</summary>
/// <param name="key">The key.</param>
/// <param name="hash">The hash of the key.</param>
/// <param name="purpose">The flags of the operation: only callers with the same flags join.</param>
#pragma warning disable CA1001 // A source without a timer holds no resources to release, and late readers may use its token.
internal abstract class JoinableFlight(string key, ulong hash, int purpose) : Flight(key, hash)
#pragma warning restore CA1001
{
    private CancellationTokenSource? _cancellation;
    private int _waiting = 1;

    public int Purpose { get; } = purpose;

    public override bool IsJoinable => true;

    /// <summary>The token that is cancelled when no caller waits any more.</summary>
    public CancellationToken Token => _cancellation?.Token ?? CancellationToken.None;

    /// <summary>The time that all steps may wait for the second level together; null if at most one step may wait.</summary>
    public LevelDeadline? Deadline { get; set; }

    /// <summary>The wait of the flight's next step on the second level.</summary>
    public LevelWait Wait => new(Deadline, Token);

    /// <summary>Makes the flight cancellable. Called before it starts. A flight with a caller that has no token is never cancelled.</summary>
    public void AllowCancellation() => _cancellation = new CancellationTokenSource();

    public bool TryJoin()
    {
        while (true)
        {
            int waiting = Volatile.Read(ref _waiting);
            if (waiting == 0)
            {
                return false; // All callers have left: the flight is being cancelled.
            }

            if (Interlocked.CompareExchange(ref _waiting, waiting + 1, waiting) == waiting)
            {
                return true;
            }
        }
    }

    /// <summary>Removes a caller that has cancelled.</summary>
    public void Leave()
    {
        if (Interlocked.Decrement(ref _waiting) == 0)
        {
            _cancellation?.Cancel();
        }
    }
}
