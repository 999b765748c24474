namespace Cairn.Simulation.Rewriting;

/// <summary>Which members of the runtime are replaced in the product, and which the product must not use.</summary>
internal static class HookTable
{
    private const string Tasks = "System.Threading.Tasks.Task";
    private const string Tokens = "System.Threading.CancellationTokenSource";

    /// <summary>Gets the method of <see cref="Hooks"/> for each replaced member.</summary>
    public static readonly Dictionary<string, string> Methods = new(StringComparer.Ordinal)
    {
        ["System.TimeProvider::get_System"] = nameof(Hooks.SystemClock),
        ["System.Threading.Tasks.TaskScheduler::get_Default"] = nameof(Hooks.DefaultScheduler),
        ["System.Environment::get_TickCount64"] = nameof(Hooks.TickCount64),
        ["System.Environment::get_ProcessorCount"] = nameof(Hooks.ProcessorCount),
        ["System.Environment::get_MachineName"] = nameof(Hooks.MachineName),
        ["System.Diagnostics.Stopwatch::GetTimestamp"] = nameof(Hooks.GetTimestamp),
        ["System.Diagnostics.Stopwatch::GetElapsedTime"] = nameof(Hooks.GetElapsedTime),
        ["System.Random::get_Shared"] = nameof(Hooks.SharedRandom),
        ["System.Guid::NewGuid"] = nameof(Hooks.NewGuid),
        ["System.Security.Cryptography.RandomNumberGenerator::Fill"] = nameof(Hooks.Fill),
        ["System.Security.Cryptography.RandomNumberGenerator::GetBytes"] = nameof(Hooks.GetBytes),
        [$"{Tasks}::Run"] = nameof(Hooks.Run),
        [$"{Tasks}::Delay"] = nameof(Hooks.Delay),
        [$"{Tasks}::WaitAsync"] = nameof(Hooks.WaitAsync),
        [$"{Tasks}`1::WaitAsync"] = nameof(Hooks.WaitAsync),
        [$"{Tasks}::WhenAny"] = nameof(Hooks.WhenAny),
        [$"{Tasks}::WhenAll"] = nameof(Hooks.WhenAll),
        [$"{Tasks}::WaitAny"] = nameof(Hooks.WaitAny),
        ["System.Threading.ThreadPool::UnsafeQueueUserWorkItem"] = nameof(Hooks.QueueWorkItem),
        [$"{Tokens}::CancelAsync"] = nameof(Hooks.CancelAsync),
        [$"{Tokens}::CancelAfter"] = nameof(Hooks.CancelAfter),
    };

    /// <summary>Gets the types that others of the simulator replace.</summary>
    public static readonly Dictionary<string, string> Types = new(StringComparer.Ordinal)
    {
        ["System.Threading.SemaphoreSlim"] = "Cairn.Simulation.Scheduling.VirtualSemaphore",
        ["System.Net.Sockets.Socket"] = "Cairn.Simulation.Network.VirtualSocket",
        ["System.Net.Sockets.NetworkStream"] = "Cairn.Simulation.Network.VirtualStream",
    };

    /// <summary>Gets the members that need no hook: they take their time from a <see cref="TimeProvider"/>, or from a token.</summary>
    public static readonly string[] Harmless =
    [
        $"{Tasks}::Delay(System.TimeSpan,System.TimeProvider",
    ];

    /// <summary>Gets the types and members that read the outside world. A call that is left after the rewriting is an error.</summary>
    public static readonly string[] Forbidden =
    [
        "System.Threading.Thread::", "System.Threading.ThreadPool::", "System.Threading.Timer::", "System.Threading.PeriodicTimer::",
        "System.Threading.Monitor::Wait", "System.Threading.Monitor::Pulse", "System.Threading.ManualResetEvent", "System.Threading.AutoResetEvent",
        "System.Threading.Tasks.Parallel::", "System.Diagnostics.Stopwatch::", "System.DateTime::get_UtcNow", "System.DateTime::get_Now",
        "System.DateTimeOffset::get_UtcNow", "System.DateTimeOffset::get_Now", "System.Random::.ctor", "System.Guid::NewGuid", "System.Net.Dns::",
        "System.Security.Cryptography.RandomNumberGenerator::", "System.Environment::get_TickCount", $"{Tasks}::Delay", $"{Tasks}::Run",
        $"{Tasks}::WaitAsync", $"{Tasks}`1::WaitAsync", $"{Tasks}::When", $"{Tasks}::Wait", $"{Tokens}::CancelAsync", $"{Tokens}::CancelAfter",
        $"{Tokens}::.ctor(System.TimeSpan)", $"{Tokens}::.ctor(System.Int32)", "System.Threading.Tasks.TaskScheduler::", "System.GC::GetTotal", "System.GC::GetGC",
        "System.Threading.Tasks.Task::Yield", "System.Collections.Concurrent.ConcurrentDictionary`2::GetEnumerator",
    ];

    /// <summary>Gets the types that the simulator does not run, because they serve the store file or the host.</summary>
    public static readonly string[] NotSimulated =
    [
        "Cairn.Caching.Levels.StoreLevel", "Cairn.Caching.CairnDistributedCache", "Cairn.Caching.Stores.", "Cairn.Caching.Registration.",
        "Cairn.Redis.Registration.", "Cairn.Clients.Nodes.ConnectionFactory/",
    ];
}
