using System.Globalization;
using Cairn.Concurrency;

namespace Cairn.TortureTests.Workloads;

/// <summary>What a worker process is asked to do; passed to it as arguments.</summary>
internal sealed record WorkerOptions
{
    /// <summary>The store's file.</summary>
    public required string StorePath { get; init; }

    /// <summary>Where its threads' journals go.</summary>
    public required string JournalDirectory { get; init; }

    /// <summary>A number that no other worker of the run has; its threads count on from sixteen times that.</summary>
    public required int Worker { get; init; }

    public int Seed { get; init; }

    public int Threads { get; init; } = 1;

    /// <summary>Operations of each thread; then the worker closes the store.</summary>
    public int Operations { get; init; } = 1000;

    public int Keys { get; init; } = 32;

    /// <summary>Only keys of this partition; -1 for all.</summary>
    public int Partition { get; init; } = -1;

    public int LongestValue { get; init; } = 60_000;

    public long CapacityBytes { get; init; } = StoreOptions.SmallestCapacityBytes;

    public long MaxCapacityBytes { get; init; }

    public bool FlushOnClose { get; init; }

    public int LockTimeoutMs { get; init; } = 1000;

    public bool IsReader { get; init; }

    /// <summary>The step at which the worker stops itself (SIGSTOP), once.</summary>
    public ProtocolStep StopAt { get; init; }

    /// <summary>At which time that the step is reached while it works; from 1.</summary>
    public int Reach { get; init; } = 1;

    public StoreOptions StoreOptions => new()
    {
        Path = StorePath,
        CapacityBytes = CapacityBytes,
        MaxCapacityBytes = MaxCapacityBytes,
        FlushOnClose = FlushOnClose,
        LockTimeout = TimeSpan.FromMilliseconds(LockTimeoutMs),
    };

    public string JournalOf(int thread) => Path.Combine(JournalDirectory, $"{(Worker * 16) + thread}.journal");

    public string[] ToArguments() =>
    [
        StorePath, JournalDirectory, StopAt.ToString(), $"{FlushOnClose}", $"{IsReader}",
        .. new[] { Worker, Seed, Threads, Operations, Keys, Partition, LongestValue, CapacityBytes, MaxCapacityBytes, LockTimeoutMs, Reach }
            .Select(number => number.ToString(CultureInfo.InvariantCulture)),
    ];

    public static WorkerOptions Parse(string[] arguments)
    {
        long[] numbers = [.. arguments[5..].Select(number => long.Parse(number, CultureInfo.InvariantCulture))];
        return new WorkerOptions
        {
            StorePath = arguments[0],
            JournalDirectory = arguments[1],
            StopAt = Enum.Parse<ProtocolStep>(arguments[2]),
            FlushOnClose = bool.Parse(arguments[3]),
            IsReader = bool.Parse(arguments[4]),
            Worker = (int)numbers[0],
            Seed = (int)numbers[1],
            Threads = (int)numbers[2],
            Operations = (int)numbers[3],
            Keys = (int)numbers[4],
            Partition = (int)numbers[5],
            LongestValue = (int)numbers[6],
            CapacityBytes = numbers[7],
            MaxCapacityBytes = numbers[8],
            LockTimeoutMs = (int)numbers[9],
            Reach = (int)numbers[10],
        };
    }
}
