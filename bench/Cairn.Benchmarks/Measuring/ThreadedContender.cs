using System.Diagnostics;

namespace Cairn.Benchmarks.Measuring;

// Runs several threads at once, each with its own operations, for a fixed time. With a fixed number of operations, the thread on
// the slower core would run alone at the end.
internal sealed class ThreadedContender(string name, IReadOnlyList<OperationContender> workers) : IContender
{
    /// <summary>The duration of a round of parallel work.</summary>
    public static readonly TimeSpan RoundTime = TimeSpan.FromMilliseconds(400);

    public string Name { get; } = name;

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        using var ready = new CountdownEvent(workers.Count);
        using var go = new ManualResetEventSlim();
        var operations = new long[workers.Count];
        var failures = new Exception?[workers.Count];
        long endsAt = 0;
        var threads = workers.Select((worker, i) => new Thread(() => Work(worker, i))).ToList();
        threads.ForEach(thread => thread.Start());
        ready.Wait();

        var cpuBefore = CpuClock.ProcessNs();
        endsAt = Stopwatch.GetTimestamp() + (long)(RoundTime.TotalSeconds * Stopwatch.Frequency);
        go.Set();
        threads.ForEach(thread => thread.Join());
        var cpuNs = CpuClock.ProcessNs() - cpuBefore;

        if (failures.FirstOrDefault(failure => failure is not null) is { } first)
        {
            throw new InvalidOperationException($"{Name}: {first.Message}", first);
        }

        double total = operations.Sum();
        return new Sample(cpuNs / total, RoundTime.TotalNanoseconds / total, BytesAllocated: 0);

        void Work(OperationContender worker, int index)
        {
            ready.Signal();
            go.Wait();
            try
            {
                operations[index] = worker.RunUntil(endsAt);
            }
            catch (Exception failure)
            {
                failures[index] = failure;
            }
        }
    }

    public void Dispose()
    {
        foreach (var worker in workers)
        {
            worker.Dispose();
        }
    }
}
