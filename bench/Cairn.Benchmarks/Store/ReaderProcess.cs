using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

// Another process that reads the same store. It is this program, started with the arguments below. It follows lines on its
// standard input:
//
//   <- ready                        as soon as the store is open and the requests are drawn
//   -> START END                    one round, between two readings of the clock, which all processes share
//   <- OPERATIONS CPU_NS            the number of operations, and the processor time used
//
// It ends when its standard input ends.
internal sealed class ReaderProcess : IDisposable
{
    public const string Command = "read-store";

    private readonly Process _process;

    public ReaderProcess(string storePath, StoreScale scale, int seed)
    {
        _process = ChildProcess.Start(
            Command, storePath, Text(scale.Entries), Text(scale.Operations), Text(seed));
        if (_process.StandardOutput.ReadLine() != "ready")
        {
            throw new InvalidOperationException("A reader process ended before it was ready.");
        }
    }

    /// <summary>Starts a round from <paramref name="start"/> to <paramref name="end"/> on the clock.</summary>
    public void Begin(long start, long end)
    {
        _process.StandardInput.WriteLine($"{Text(start)} {Text(end)}");
        _process.StandardInput.Flush();
    }

    /// <summary>Waits for the end of the round.</summary>
    public (long Operations, long CpuNs) Finish()
    {
        var line = _process.StandardOutput.ReadLine()
            ?? throw new InvalidOperationException("A reader process ended during a round.");
        var fields = line.Split(' ');
        return (Number(fields[0]), Number(fields[1]));
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        _process.Dispose();
    }

    /// <summary>Runs the program as a reader process.</summary>
    public static int Serve(IReadOnlyList<string> arguments)
    {
        var scale = new StoreScale((int)Number(arguments[1]), (int)Number(arguments[2]), SlowOperations: 0, Rounds: 0);
        var requests = scale.Draw(Distribution.Uniform, (int)Number(arguments[3]));
        using var store = CairnStore.Open(new StoreOptions { Path = arguments[0], FlushOnClose = false });
        using var reader = new CairnGetByBytes(store.DefaultCollection, requests, StoreScale.ValueBytes);

        Console.WriteLine("ready");
        while (Console.ReadLine() is { } line)
        {
            var fields = line.Split(' ');
            SpinUntil(Number(fields[0]));
            var cpuBefore = CpuClock.ProcessNs();
            var operations = reader.RunUntil(Number(fields[1]));
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{operations} {CpuClock.ProcessNs() - cpuBefore}"));
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

/// <summary>Reader processes that start at the same moment and run for a fixed time.</summary>
internal sealed class ProcessesContender(string name, IReadOnlyList<ReaderProcess> processes) : IContender
{
    // Long enough for every process to read its line and to wait for the start.
    private static readonly long LeadTicks = Stopwatch.Frequency / 50;

    public string Name { get; } = name;

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        var start = Stopwatch.GetTimestamp() + LeadTicks;
        var end = start + (long)(ThreadedContender.RoundTime.TotalSeconds * Stopwatch.Frequency);
        foreach (var process in processes)
        {
            process.Begin(start, end);
        }

        var results = processes.Select(process => process.Finish()).ToList();
        double operations = results.Sum(result => result.Operations);
        return new Sample(
            results.Sum(result => result.CpuNs) / operations, ThreadedContender.RoundTime.TotalNanoseconds / operations, BytesAllocated: 0);
    }

    public void Dispose()
    {
    }
}
