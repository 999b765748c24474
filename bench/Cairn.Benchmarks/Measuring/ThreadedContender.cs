using System.Diagnostics;

namespace Cairn.Benchmarks.Measuring;

// Several threads at once, each with its own operations. The clock runs from the moment all of them are let go to the
// moment the last one is done.
internal sealed class ThreadedContender(string name, IReadOnlyList<OperationContender> workers) : IContender
{
    public string Name { get; } = name;

    public void WarmUp() => Measure(round: 0);

    public Sample Measure(int round)
    {
        using var ready = new CountdownEvent(workers.Count);
        using var go = new ManualResetEventSlim();
        var finishedAt = new long[workers.Count];
        var failures = new Exception?[workers.Count];
        var threads = workers.Select((worker, i) => new Thread(() => Work(worker, i))).ToList();
        threads.ForEach(thread => thread.Start());
        ready.Wait();

        var cpuBefore = CpuClock.ProcessNs();
        var startedAt = Stopwatch.GetTimestamp();
        go.Set();
        threads.ForEach(thread => thread.Join());
        var cpuNs = CpuClock.ProcessNs() - cpuBefore;

        if (failures.FirstOrDefault(failure => failure is not null) is { } first)
        {
            throw new InvalidOperationException($"{Name}: {first.Message}", first);
        }

        double operations = workers.Sum(worker => (long)worker.Operations);
        var wallNs = Stopwatch.GetElapsedTime(startedAt, finishedAt.Max()).TotalNanoseconds;
        return new Sample(cpuNs / operations, wallNs / operations, BytesAllocated: 0);

        void Work(OperationContender worker, int index)
        {
            ready.Signal();
            go.Wait();
            try
            {
                worker.RunAll();
            }
            catch (Exception failure)
            {
                failures[index] = failure;
            }

            finishedAt[index] = Stopwatch.GetTimestamp();
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
