using System.Collections.Concurrent;

namespace Cairn.Clients.Connections;

/// <summary>Calls of one type that are not in use.</summary>
internal static class CallPool<TCall>
    where TCall : PendingCall, new()
{
    private const int PooledAtMost = 1024;

    private static readonly ConcurrentQueue<TCall> s_pool = new();
    private static int s_pooled;

    // The call that this thread returned last. A thread that runs continuations uses it for the next request of one of them.
    [ThreadStatic]
    private static TCall? t_spare;

    public static TCall Rent()
    {
        TCall? call = t_spare;
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
            call = new TCall();
        }

        return call;
    }

    public static void Return(TCall call)
    {
        if (t_spare is null)
        {
            t_spare = call;
        }
        else if (Interlocked.Increment(ref s_pooled) <= PooledAtMost)
        {
            s_pool.Enqueue(call);
        }
        else
        {
            Interlocked.Decrement(ref s_pooled);
        }
    }
}
