using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

// Another process that reads the same store. It is this program, started with the arguments below, and obeys lines on
// its standard input:
//
//   <- ready                        once the store is open and the requests are drawn
//   -> TIMESTAMP                    one round, to begin at that reading of the clock, which all processes share
//   <- STARTED FINISHED CPU_NS      readings of the clock, and processor time used
//
// It ends when its standard input does.
internal sealed class ReaderProcess : IDisposable
{
    public const string Command = "read-store";

    private readonly Process _process;

    public ReaderProcess(string storePath, StoreScale scale, int seed)
    {
        Operations = scale.Operations;
        _process = ChildProcess.Start(
            Command, storePath, Text(scale.Entries), Text(scale.Operations), Text(seed));
        if (_process.StandardOutput.ReadLine() != "ready")
        {
            throw new InvalidOperationException("A reader process ended before it was ready.");
        }
    }

    /// <summary>Operations per round.</summary>
    public int Operations { get; }

    /// <summary>Asks for a round that begins when the clock reads <paramref name="timestamp"/>.</summary>
    public void StartAt(long timestamp)
    {
        _process.StandardInput.WriteLine(Text(timestamp));
        _process.StandardInput.Flush();
    }

    /// <summary>Waits for the round to end.</summary>
    public (long StartedAt, long FinishedAt, long CpuNs) Finish()
    {
        var line = _process.StandardOutput.ReadLine()
            ?? throw new InvalidOperationException("A reader process ended during a round.");
        var fields = line.Split(' ');
        return (Number(fields[0]), Number(fields[1]), Number(fields[2]));
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }

    /// <summary>The other end: what the program does when it is started as a reader.</summary>
    public static int Serve(IReadOnlyList<string> arguments)
    {
        var scale = new StoreScale((int)Number(arguments[1]), (int)Number(arguments[2]), SlowOperations: 0, Rounds: 0);
        var requests = scale.Draw(Distribution.Uniform, (int)Number(arguments[3]));
        using var store = CairnStore.Open(new StoreOptions { Path = arguments[0], FlushOnClose = false });
        using var reader = new CairnGetByBytes(store, requests, StoreScale.ValueBytes);

        Console.WriteLine("ready");
        while (Console.ReadLine() is { } line)
        {
            SpinUntil(Number(line));
            var cpuBefore = CpuClock.ProcessNs();
            var startedAt = Stopwatch.GetTimestamp();
            reader.RunAll();
            var finishedAt = Stopwatch.GetTimestamp();
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{startedAt} {finishedAt} {CpuClock.ProcessNs() - cpuBefore}"));
        }

        return 0;
    }

    private static void SpinUntil(long timestamp)
    {
        while (Stopwatch.GetTimestamp() < timestamp)
        {
            Thread.SpinWait(10);
        }
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}

/// <summary>Reader processes let go at the same moment. The clock runs from the first start to the last end.</summary>
internal sealed class ProcessesContender(string name, IReadOnlyList<ReaderProcess> processes) : IContender
{
    // Long enough for every process to have read its line and be waiting for the moment.
    private static readonly long LeadTicks = Stopwatch.Frequency / 50;

    public string Name { get; } = name;

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        var start = Stopwatch.GetTimestamp() + LeadTicks;
        foreach (var process in processes)
        {
            process.StartAt(start);
        }

        var rounds = processes.Select(process => process.Finish()).ToList();
        double operations = processes.Sum(process => (long)process.Operations);
        var wall = Stopwatch.GetElapsedTime(rounds.Min(r => r.StartedAt), rounds.Max(r => r.FinishedAt));
        return new Sample(rounds.Sum(r => r.CpuNs) / operations, wall.TotalNanoseconds / operations, BytesAllocated: 0);
    }

    public void Dispose()
    {
    }
}
