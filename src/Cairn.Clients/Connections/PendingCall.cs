// A request that is queued or sent, and whose outcome the caller has not yet taken. Calls are pooled, so a call allocates nothing except its
// result.
//
//   Waiting --TryDecide--> Decided --Finish--> (the caller's continuation) --both references released--> pool
//
//   I1  Only the thread that changes Waiting to Decided sets the outcome: the reader with a reply, the sweep with a time-out, a
//       cancellation, or the end of the connection.
//   I2  A call has two references: one for its caller until the outcome is taken, and one for its place in the connection's queue until
//       the reply is received or the connection ends. It returns to the pool with the last reference, so a late reply never reaches
//       another caller.
//   I3  The thread that decides holds a reference until Finish has returned.
namespace Cairn.Clients.Connections;

[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The registration ends when the outcome is taken.")]
internal abstract class PendingCall
{
    private const int Waiting = 0;
    private const int Decided = 1;

    private static readonly Action<object?, CancellationToken> s_cancel = static (call, token) => ((PendingCall)call!).Cancel(token);

    private int _state;
    private int _references;
    private CancellationTokenRegistration _registration;

    /// <summary>Gets the time at which the call fails with a time-out, in units of <see cref="Environment.TickCount64"/>.</summary>
    public long DeadlineMs { get; private set; }

    /// <summary>Gets the time at which the call was sent or queued, in units of <see cref="Environment.TickCount64"/>.</summary>
    public long StartedMs { get; private set; }

    /// <summary>Gets or sets the queue that completes the call.</summary>
    public CompletionQueue? Completions { get; set; }

    /// <summary>Gets or sets the first error among the replies before the last, such as that of a command that a transaction refused.</summary>
    public string? EarlierError { get; set; }

    protected Exception? Error { get; private set; }

    /// <summary>Prepares the call for a new request and sets both references (I2).</summary>
    public void Start(long nowMs, long timeoutMs)
    {
        _state = Waiting;
        _references = 2;
        StartedMs = nowMs;
        DeadlineMs = nowMs + timeoutMs;
        EarlierError = null;
        Error = null;
    }

    /// <summary>Registers a token that cancels the call. The caller's thread calls it before the caller can take the outcome.</summary>
    public void CancelWith(CancellationToken cancellationToken)
    {
        if (cancellationToken.CanBeCanceled)
        {
            _registration = cancellationToken.UnsafeRegister(s_cancel, this);
        }
    }

    /// <summary>Claims the right to set the outcome. Returns false if another thread has decided already (I1).</summary>
    public bool TryDecide() => Interlocked.CompareExchange(ref _state, Decided, Waiting) == Waiting;

    /// <summary>Sets the outcome from a reply. Requires a successful <see cref="TryDecide"/>.</summary>
    public abstract void Accept(ReadOnlySpan<byte> reply);

    /// <summary>Sets an error as the outcome. Requires a successful <see cref="TryDecide"/>.</summary>
    public void Reject(Exception error) => Error = error;

    /// <summary>Sets an error as the outcome unless the call is decided, and queues the call for completion.</summary>
    public void TryReject(Func<PendingCall, Exception> error)
    {
        if (TryDecide())
        {
            Reject(error(this));
            AddReference();
            Completions!.Add(this);
        }
    }

    /// <summary>Completes the call. The caller's continuation may run inside this method.</summary>
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

    // Waits for a cancellation in progress on another thread, so that it cannot affect the next use of the object.
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
