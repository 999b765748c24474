using System.Globalization;
using Cairn.Steps;

namespace Cairn.TortureTests.Workloads;

/// <summary>The options of a worker process, which receives them as arguments.</summary>
internal sealed record WorkerOptions
{
    /// <summary>Gets the path of the store's file.</summary>
    public required string StorePath { get; init; }

    /// <summary>Gets the directory for the journals of the worker's threads.</summary>
    public required string JournalDirectory { get; init; }

    /// <summary>Gets a number that no other worker of the run has. Its threads are numbered from sixteen times that number.</summary>
    public required int Worker { get; init; }

    public int Seed { get; init; }

    public int Threads { get; init; } = 1;

    /// <summary>Gets the number of operations of each thread. After them the worker closes the store.</summary>
    public int Operations { get; init; } = 1000;

    public int Keys { get; init; } = 32;

    /// <summary>Gets the partition whose keys are used; -1 for all keys.</summary>
    public int Partition { get; init; } = -1;

    public int LongestValue { get; init; } = 60_000;

    public long CapacityBytes { get; init; } = StoreLimits.MinCapacityBytes;

    public long MaxCapacityBytes { get; init; }

    public bool FlushOnClose { get; init; }

    public int LockTimeoutMs { get; init; } = 1000;

    public bool IsReader { get; init; }

    /// <summary>Gets the step at which the worker stops itself (SIGSTOP), once.</summary>
    public ProtocolStep StopAt { get; init; }

    /// <summary>Gets the occurrence of the step at which the worker stops, from 1.</summary>
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
