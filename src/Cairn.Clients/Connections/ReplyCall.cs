using System.Threading.Tasks.Sources;

namespace Cairn.Clients.Connections;

/// <summary>A call whose caller awaits the result. A protocol's type of call reads the reply, and returns to its <see cref="CallPool{TCall}"/>.</summary>
internal abstract class ReplyCall<T> : PendingCall, IValueTaskSource<T>
{
    private ManualResetValueTaskSourceCore<T> _core;
    private T? _result;

    public ValueTask<T> Task => new(this, _core.Version);

    public sealed override void Accept(ReadOnlySpan<byte> reply)
    {
#pragma warning disable CA1031 // An exception of the caller's buffer fails this call, not the connection.
        try
        {
            _result = Read(reply);
        }
        catch (Exception error)
        {
            Reject(error);
        }
#pragma warning restore CA1031
    }

    public override void Finish()
    {
        if (Error is { } error)
        {
            _core.SetException(error);
        }
        else
        {
            _core.SetResult(_result!);
        }

        Release();
    }

    public T GetResult(short token)
    {
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The call has not completed; await it.");
        }

        EndCancellation();
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            Release();
        }
    }

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Releases both references of a request that was never queued.</summary>
    public void Abandon()
    {
        EndCancellation();
        Release();
        Release();
    }

    /// <summary>Converts a reply to the result, or rejects the call. Runs on the receiving thread: it must copy the bytes and must not block.</summary>
    protected abstract T? Read(ReadOnlySpan<byte> reply);

    protected override void Recycle() => _result = default;
}
