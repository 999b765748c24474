using System.Runtime;
using Cairn.Platform.Linux;

namespace Cairn.Server.Connections;

// Connections and what their sessions keep are objects of the heap. When many of them have ended and nothing else happens, no allocation
// causes a collection, and their memory would stay with the process until the next traffic.

/// <summary>Collects garbage once after a burst, when all workers are quiet.</summary>
internal sealed class IdleCollector(MemoryAccount account)
{
    // A program that hosts a server should not pay for collections that would find next to nothing.
    private const long WorthwhileBytes = 4 << 20;

    private long _collectedBytes;

    /// <summary>Any thread. Returns at once; the collection happens on another thread.</summary>
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
