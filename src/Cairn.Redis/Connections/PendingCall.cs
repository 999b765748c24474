// A request that was sent, or waits to be, and whose reply has not been handed to the caller. Calls are pooled: a call costs no
// allocation beyond what its result needs.
//
//   Waiting --TryDecide--> Decided --Finish--> (the caller's continuation) --both references released--> pool
//
//   I1  Who changes Waiting to Decided, and nobody else, sets the outcome: the reader with a reply, the sweep with a time-out, a
//       cancellation, the end of the connection.
//   I2  A call has a reference for its caller until the outcome was taken, and one for its place in the connection's queue until
//       the reply was received or the connection ended. It goes back to the pool with the last, so a late reply never reaches
//       another caller.
//   I3  Who decides holds a reference until Finish has returned.
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Cairn.Redis.Connections;

[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The registration ends when the outcome is taken.")]
internal abstract class PendingCall
{
    private const int Waiting = 0;
    private const int Decided = 1;

    private static readonly Action<object?, CancellationToken> s_cancel = static (call, token) => ((PendingCall)call!).Cancel(token);

    private int _state;
    private int _references;
    private CancellationTokenRegistration _registration;

    /// <summary>When the caller is no longer kept waiting, by <see cref="Environment.TickCount64"/>.</summary>
    public long DeadlineMs { get; private set; }

    /// <summary>When it was sent or queued, likewise.</summary>
    public long StartedMs { get; private set; }

    /// <summary>Where its outcome goes on the way to the caller.</summary>
    public CompletionQueue? Completions { get; set; }

    /// <summary>The text of an error among the replies before the last, as of a command that a transaction did not accept.</summary>
    public string? EarlierError { get; set; }

    protected Exception? Error { get; private set; }

    /// <summary>Prepares it for a new request, with the references of I2.</summary>
    public void Start(long nowMs, long timeoutMs)
    {
        _state = Waiting;
        _references = 2;
        StartedMs = nowMs;
        DeadlineMs = nowMs + timeoutMs;
        EarlierError = null;
        Error = null;
    }

    /// <summary>Lets a token cancel it. Called by the caller's thread, before the caller can take the outcome.</summary>
    public void CancelWith(CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled)
        {
            _registration = cancellationToken.UnsafeRegister(s_cancel, this);
        }
    }

    /// <summary>Takes the right to set the outcome (I1).</summary>
    public bool TryDecide() => Interlocked.CompareExchange(ref _state, Decided, Waiting) == Waiting;

    /// <summary>Takes the outcome of a reply. Only after <see cref="TryDecide"/>.</summary>
    public abstract void Accept(ReadOnlySpan<byte> reply);

    /// <summary>Sets an error as outcome. Only after <see cref="TryDecide"/>.</summary>
    public void Reject(Exception error) => Error = error;

    /// <summary>Decides for an error, if nothing was decided, and hands it to the caller by way of the completions.</summary>
    public void TryReject(Func<PendingCall, Exception> error)
    {
        if (TryDecide())
        {
            Reject(error(this));
            AddReference();
            Completions!.Add(this);
        }
    }

    /// <summary>Gives the outcome to the caller, whose continuation may run within this call.</summary>
    public abstract void Finish();

    public void AddReference() => Interlocked.Increment(ref _references);

    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        Debug.Assert(left >= 0, "I2: each reference is released once.");
        if (left == 0)
        {
            Completions = null;
            Recycle();
        }
    }

    protected abstract void Recycle();

    // Waits for a cancellation that is under way on another thread, so that none reaches the object's next use.
    protected void EndCancellation()
    {
        _registration.Dispose();
        _registration = default;
    }

    private void Cancel(CancellationToken cancellationToken)
    {
        if (TryDecide())
        {
            Reject(new OperationCanceledException(cancellationToken));
            AddReference();
            Completions!.Add(this);
        }
    }
}
