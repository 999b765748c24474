using System.Collections.Concurrent;
using System.Text;
using System.Threading.Tasks.Sources;
using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>A call whose caller awaits the result.</summary>
internal sealed class ReplyCall<T> : PendingCall, IValueTaskSource<T>
{
    private const int PooledAtMost = 1024;

    private static readonly ConcurrentQueue<ReplyCall<T>> s_pool = new();
    private static int s_pooled;

    // The call that this thread returned last. A thread that runs continuations uses it for the next request of one of them.
    [ThreadStatic]
    private static ReplyCall<T>? t_spare;

    private ManualResetValueTaskSourceCore<T> _core;
    private ReplyParser<T>? _parser;
    private WrittenReplyParser<T>? _writtenParser;
    private object? _parserState;
    private T? _result;

    public ValueTask<T> Task => new(this, _core.Version);

    public static ReplyCall<T> Rent(ReplyParser<T> parser, object? parserState, CompletionQueue completions, long nowMs, long timeoutMs)
    {
        ReplyCall<T>? call = t_spare;
        if (call is not null)
        {
            t_spare = null;
        }
        else if (s_pool.TryDequeue(out call))
        {
            Interlocked.Decrement(ref s_pooled);
        }
        else
        {
            call = new ReplyCall<T>();
        }

        call._parser = parser;
        call._parserState = parserState;
        call.Completions = completions;
        call.Start(nowMs, timeoutMs);
        return call;
    }

    /// <summary>Returns a call whose reply is not RESP.</summary>
    public static ReplyCall<T> RentWritten(
        WrittenReplyParser<T> parser, object? parserState, CompletionQueue completions, long nowMs, long timeoutMs)
    {
        ReplyCall<T> call = Rent(null!, parserState, completions, nowMs, timeoutMs);
        call._writtenParser = parser;
        return call;
    }

    public override void Accept(ReadOnlySpan<byte> reply)
    {
        if (_writtenParser is not null)
        {
            AcceptWritten(reply);
            return;
        }

        var reader = new RespReplyReader(reply);
        reader.Read();
        while (reader.Type == RespType.Attribute)
        {
            reader.Skip();
            reader.Read();
        }

        if (reader.IsError)
        {
            Reject(new RedisServerException(EarlierError ?? Encoding.UTF8.GetString(reader.Value)));
            return;
        }

#pragma warning disable CA1031 // An exception of the caller's buffer fails this call, not the connection.
        try
        {
            _result = _parser!(ref reader, _parserState);
        }
        catch (Exception error)
        {
            Reject(error);
        }
#pragma warning restore CA1031
    }

    private void AcceptWritten(ReadOnlySpan<byte> reply)
    {
#pragma warning disable CA1031 // An exception of the caller's buffer fails this call, not the connection.
        try
        {
            _result = _writtenParser!(reply, _parserState);
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

    protected override void Recycle()
    {
        _parser = null;
        _writtenParser = null;
        _parserState = null;
        _result = default;
        if (t_spare is null)
        {
            t_spare = this;
        }
        else if (Interlocked.Increment(ref s_pooled) <= PooledAtMost)
        {
            s_pool.Enqueue(this);
        }
        else
        {
            Interlocked.Decrement(ref s_pooled);
        }
    }
}
