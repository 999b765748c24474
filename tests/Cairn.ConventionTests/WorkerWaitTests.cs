namespace Cairn.ConventionTests;

/// <summary>
/// Code that runs on a server's worker waits for nothing that only a worker can release (Worker I4, docs/concurrency.md). Every call that can block a
/// thread is in a type of the reviewed list, with the reason why it does not break the rule.
/// </summary>
public class WorkerWaitTests
{
    private static readonly string[] Waits =
    [
        "System.Threading.SpinWait.",
        "System.Threading.SpinLock.",
        "System.Threading.Thread.Sleep",
        "System.Threading.Thread.SpinWait",
        "System.Threading.Thread.Yield",
        "System.Threading.Thread.Join",
        "System.Threading.Monitor.Enter",
        "System.Threading.Monitor.TryEnter",
        "System.Threading.Monitor.Wait",
        "System.Threading.Lock.Enter",
        "System.Threading.Lock.TryEnter",
        "System.Threading.ReaderWriterLock",
        "System.Threading.WaitHandle.",
        "System.Threading.Barrier.",
        "System.Threading.ManualResetEventSlim.Wait",
        "System.Threading.SemaphoreSlim.Wait",
        "System.Threading.CountdownEvent.Wait",
        "System.Threading.Tasks.Task.Wait",
        "System.Threading.Tasks.Task`1.get_Result",
        "System.Threading.Tasks.ValueTask`1.get_Result",
        "System.Threading.Tasks.Parallel.",
        "System.Collections.Concurrent.BlockingCollection`1.",
    ];

    private const string ShortLock = "Its lock guards memory of the process, and no code waits for anything while it holds the lock.";
    private const string NotOnWorker = "Runs on threads other than a worker.";

    // Type, and why what it waits for never needs a worker.
    private static readonly Dictionary<string, string> Reviewed = new(StringComparer.Ordinal)
    {
        ["Cairn.Server.Connections.AddressLimiter"] = ShortLock,
        ["Cairn.Server.Connections.CellQueue"] = ShortLock,
        ["Cairn.Server.Connections.ServerEngine"] = NotOnWorker,
        ["Cairn.Server.Hosting.DamageWatch"] = ShortLock,
        ["Cairn.Server.Io.Sockets.SocketsLoop"] = "The sleep of the worker itself, which a socket or a post ends.",
        ["Cairn.Server.Memcached.MemcachedSessions"] = ShortLock,
        ["Cairn.Server.Memcached.PrefixStatistics"] = ShortLock,
        ["Cairn.Server.Memcached.WatchLog"] = ShortLock,
        ["Cairn.Server.Memcached.WatchSession"] = ShortLock,
        ["Cairn.Server.Memcached.WriteTimes"] = ShortLock,
        ["Cairn.Server.Metrics.KeySamples"] = ShortLock,
        ["Cairn.Server.Exposition.MeterFigures"] = NotOnWorker,
        ["Cairn.Server.Metrics.SlowLog"] = ShortLock,
        ["Cairn.Server.Notifications.KeyspaceEvents"] =
            "One thread at a time hands events to the inboxes of subscribers, which takes their memory and waits for no client.",
        ["Cairn.Server.Resp.PubSub.PubSubHub"] = ShortLock,
        ["Cairn.Server.Resp.RespServer"] = ShortLock,
        ["Cairn.Server.Resp.Security.PasswordChecks"] = ShortLock,
        ["Cairn.Server.Resp.PubSub.MessageInbox"] = ShortLock,
        ["Cairn.Server.Resp.RespStatistics"] = ShortLock,
        ["Cairn.Server.Resp.Tracking.TrackingHub"] = ShortLock,
        ["Cairn.Server.Tls.CertificateSource"] = NotOnWorker,
        ["Cairn.CairnStore"] = "Opening a collection by name, which a server does before it serves.",
        ["Cairn.Concurrency.PartitionLock"] = "A partition's lock: its holder waits for no client and for no pin, and the wait ends at its time-out.",
        ["Cairn.Encryption.AesGcmKey"] = ShortLock,
        ["Cairn.Encryption.StoreCipher"] = ShortLock,
        ["Cairn.Engine.ExpirySweeper"] = "A pause of some instructions between two steps, in which it waits for nothing.",
        ["Cairn.Engine.HitCounters"] = ShortLock,
        ["Cairn.Engine.StoreEngine"] = "Closing waits for operations that end at their time-outs; a server closes its store when its workers have ended.",
        ["Cairn.Eviction.Dueling.PolicyDuel"] = ShortLock,
        ["Cairn.Eviction.StoreGrowth"] = "Tries the lock and continues without it.",
        ["Cairn.MapRemovals"] = ShortLock,
        ["Cairn.Messages.BackgroundFailures"] = ShortLock,
        ["Cairn.Offline.Verifier"] = NotOnWorker,
        ["Cairn.PersistentMap`2"] = "Adding and removing a handler of a map, which a server does not have; its lock guards memory of the process.",
        ["Cairn.Opening.StoreOpener"] = "Opening a store, which a server does before it serves; the wait for an opening that failed ends after 5 seconds.",
        ["Cairn.Platform.CloseAtExit"] = NotOnWorker,
        ["Cairn.Platform.SystemFile"] = "Mapping and closing a store's file, before a server serves and after.",
        ["Cairn.Platform.Windows.WindowsStoreFile"] = "Locks of bytes, which openings and closings take.",
        ["Cairn.Platform.Windows.WindowsMappedRegion"] = "Bringing pages to the disk, whose errors end by themselves.",
        ["Cairn.Platform.PollingWait"] = "A partition's lock or a lease where the system has no better wait; it ends at the caller's time-out.",
        ["Cairn.Platform.StoreFile"] = "The gate of the file, which an opening, closing or growing process holds; growing waits 50 ms at most.",
        ["Cairn.Recovering.OwnerCleanup"] = "Tries the lock and continues without it.",
        ["Cairn.StoreEncryption"] = NotOnWorker,
        ["Cairn.Snapshots.Checkpointer"] = NotOnWorker,
        ["Cairn.WriteAhead.StoreLog"] = "A durable write waits for the disk; one of those that wait brings the log to it and needs no other worker.",
    };

    [Theory]
    [InlineData("Cairn.Server.dll")]
    [InlineData("Cairn.Protocol.dll")]
    [InlineData("Cairn.dll")]
    public void Every_type_that_may_block_a_thread_is_reviewed(string assembly)
    {
        IEnumerable<string> found = BlockingCalls(assembly)
            .Where(call => !Reviewed.ContainsKey(call.Caller))
            .Select(call => $"{call.Caller} calls {call.Callee}")
            .Distinct();

        Assert.Empty(found);
    }

    [Fact]
    public void Every_reviewed_type_may_block_a_thread()
    {
        var blocking = new[] { "Cairn.Server.dll", "Cairn.dll" }.SelectMany(BlockingCalls).Select(call => call.Caller).ToHashSet();

        Assert.DoesNotContain(Reviewed.Keys, type => !blocking.Contains(type));
        Assert.All(Reviewed.Values, reason => Assert.EndsWith(".", reason, StringComparison.Ordinal));
    }

    /// <summary>Deriving a key takes up to a second of processor time, so no code that a worker runs may do it.</summary>
    [Theory]
    [InlineData("System.Security.Cryptography.Rfc2898DeriveBytes.Pbkdf2", "Cairn.Server.Resp.Security.PasswordHash", "Cairn.StoreEncryption")]
    [InlineData("Cairn.Server.Resp.Security.PasswordHash.Matches", "Cairn.Server.Resp.Security.PasswordChecks", "Cairn.Server.Resp.Security.RespUsers")]
    [InlineData("Cairn.Server.Resp.Security.RespUsers.Authenticate", "Cairn.Server.Hosting.ServerAccess")]
    [InlineData("Cairn.Server.Hosting.ServerAccess.Authenticate")]
    public void Key_is_derived_only_by_code_that_no_worker_runs(string callee, params string[] callers)
    {
        IEnumerable<string> found = new[] { "Cairn.Server.dll", "Cairn.Protocol.dll", "Cairn.dll" }
            .SelectMany(assembly => CallsOfAssembly.Read(Path.Combine(AppContext.BaseDirectory, assembly)))
            .Where(call => call.Callee == callee)
            .Select(call => call.Caller);

        Assert.Equal(callers, found.Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Call_that_blocks_is_found_in_compiled_code()
    {
        string self = typeof(BlocksInEveryWay).FullName!;

        var found = BlockingCalls("Cairn.ConventionTests.dll").Where(call => call.Caller == self).Select(call => call.Callee).Order();

        Assert.Equal(
            ["System.Threading.Lock.EnterScope", "System.Threading.SpinWait.SpinOnce", "System.Threading.Tasks.Task`1.get_Result",
            "System.Threading.Thread.Sleep"],
            found);
    }

    private static IEnumerable<CompiledCall> BlockingCalls(string assembly) =>
        CallsOfAssembly.Read(Path.Combine(AppContext.BaseDirectory, assembly))
            .Where(call => !call.Callee.EndsWith("Async", StringComparison.Ordinal))
            .Where(call => Array.Exists(Waits, wait => call.Callee.StartsWith(wait, StringComparison.Ordinal)) || IsBlockingAwaiter(call));

    // GetAwaiter().GetResult() outside an async method, where the compiler has not put it.
    private static bool IsBlockingAwaiter(CompiledCall call) =>
        !call.IsInAsyncMethod && call.Callee.EndsWith("Awaiter.GetResult", StringComparison.Ordinal);
}

/// <summary>What the test must find.</summary>
internal sealed class BlocksInEveryWay
{
    private readonly Lock _lock = new();

#pragma warning disable VSTHRD002 // Never called: the test reads its instructions.
    public int Block(Task<int> task)
    {
        lock (_lock)
        {
            var wait = default(SpinWait);
            wait.SpinOnce();
            Thread.Sleep(1); // No test executes it.
            return task.Result;
        }
    }
#pragma warning restore VSTHRD002
}
