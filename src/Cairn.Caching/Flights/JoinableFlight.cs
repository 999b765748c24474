using Cairn.Caching.Levels;

namespace Cairn.Caching.Flights;

/// <summary>A flight that others can wait for. It is cancelled when all who waited have cancelled.</summary>
/// <param name="key">The key.</param>
/// <param name="hash">Its hash.</param>
/// <param name="purpose">What it does, and what not: only those who want the same join.</param>
#pragma warning disable CA1001 // A source without a timer holds nothing that would have to be given back, and late readers may ask for its token.
internal abstract class JoinableFlight(string key, ulong hash, int purpose) : Flight(key, hash)
#pragma warning restore CA1001
{
    private CancellationTokenSource? _cancellation;
    private int _waiting = 1;

    public int Purpose { get; } = purpose;

    public override bool IsJoinable => true;

    /// <summary>Cancelled when nobody waits any more.</summary>
    public CancellationToken Token => _cancellation?.Token ?? CancellationToken.None;

    /// <summary>How long it may wait for the second level, all its steps together; null where at most one step may wait.</summary>
    public LevelDeadline? Deadline { get; set; }

    /// <summary>How long its next step on the second level may take.</summary>
    public LevelWait Wait => new(Deadline, Token);

    /// <summary>Before it starts: whether anybody could want to cancel it. A flight that some wait for without a token goes on.</summary>
    public void AllowCancellation() => _cancellation = new CancellationTokenSource();

    public bool TryJoin()
    {
        while (true)
        {
            int waiting = Volatile.Read(ref _waiting);
            if (waiting == 0)
            {
                return false; // All have left: it is being cancelled.
            }

            if (Interlocked.CompareExchange(ref _waiting, waiting + 1, waiting) == waiting)
            {
                return true;
            }
        }
    }

    /// <summary>One who waited has cancelled.</summary>
    public void Leave()
    {
        if (Interlocked.Decrement(ref _waiting) == 0)
        {
            _cancellation?.Cancel();
        }
    }
}
