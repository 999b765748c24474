using System.Runtime;
using Cairn.Platform.Linux;
using Cairn.Server.Buffers;

namespace Cairn.Server.Connections;

// Connections and the state of their sessions are objects on the heap. When many of them have ended and nothing else happens, no
// allocation starts a garbage collection. Their memory would stay with the process until the next traffic.

/// <summary>Starts one garbage collection after a burst, when all workers are idle.</summary>
internal sealed class IdleCollector(MemoryAccount account)
{
    // A program that hosts a server should not pay for collections that free almost nothing.
    private const long WorthwhileBytes = 4 << 20;

    private long _collectedBytes;

    /// <summary>Starts a collection on another thread if enough was allocated since the last one. Returns at once. Thread-safe.</summary>
    public void CollectIfWorthwhile()
    {
        long before = Volatile.Read(ref _collectedBytes);
        long now = account.HeapBytes;
        if (now - before >= WorthwhileBytes && Interlocked.CompareExchange(ref _collectedBytes, now, before) == before)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static _ => Collect(), null);
        }
    }

    private static void Collect()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        if (OperatingSystem.IsLinux())
        {
            LinuxNative.TrimHeap();
        }
    }
}
