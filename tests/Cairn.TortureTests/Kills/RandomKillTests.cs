using System.Diagnostics;
using System.Globalization;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// Processes write and read a store that is too small for their data. They are killed (SIGKILL) at any point, repeatedly, and replaced by
/// others. The remaining processes are not disturbed and do not wait long for anything.
/// </summary>
public sealed class RandomKillTests(ITestOutputHelper output)
{
    private const long CapacityBytes = 2L << 20;
    private const int Writers = 3;
    private const int Workers = 1 + Writers;
    private const int Readers = 1;
    private const int WritesAfterKill = 50;
    private const int KillsBetweenChecks = 40;

    private static readonly TimeSpan LongestRun = TortureRun.IsLong ? TimeSpan.FromHours(2) : TimeSpan.FromSeconds(20);
    private static readonly int Kills = TortureRun.Count(inShort: 80, inLong: 5_000);

    // Checked only in the long run, which has a machine of its own.
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(250);

    // Among the processes of other tests, a living holder of a lock may wait long for a processor. The quantile measures how soon others can
    // write. This is the longest time that a process may be stuck.
    private static readonly TimeSpan LockTimeout = TimeSpan.FromSeconds(30);

    [Fact]
    public void Killed_processes_leave_a_whole_store_that_the_others_can_write_at_once()
    {
        var torture = new TortureRun(output, nameof(Killed_processes_leave_a_whole_store_that_the_others_can_write_at_once));
        using var directory = new StoreDirectory();
        var run = new KillRun(directory.Path, Workers);
        using KillJournal journal = run.OpenJournal();
        var survivor = new KillSurvivor(
            run, journal, torture.Random, KillSizes.Runs, directory.Options with { CapacityBytes = CapacityBytes, LockTimeout = LockTimeout });
        var workers = new ChildProcess[Writers + Readers];
        var areWorking = new bool[workers.Length];
        var waits = new List<TimeSpan>();
        try
        {
            _ = survivor.Store;
            StartAll(workers, run, torture.Random);
            long start = Stopwatch.GetTimestamp();
            while (waits.Count < Kills && (waits.Count == 0 || Stopwatch.GetElapsedTime(start) < LongestRun))
            {
                int index = torture.Random.Next(workers.Length);
                if (torture.Random.Next(5) != 0)
                {
                    WaitUntilItWorks(workers, areWorking, index);
                }

                WorkForAMoment(survivor.Work, torture.Random);
                waits.Add(KillAndWrite(workers[index], survivor.Work, torture.Random));
                Assert.Equal("", run.Faults);
                workers[index] = Start(run, index, torture.Random);
                areWorking[index] = false;
                if (waits.Count % KillsBetweenChecks == 0)
                {
                    KillAll(workers);
                    survivor.Check();
                    if (TortureRun.IsLong)
                    {
                        Console.WriteLine(ReportOf(waits));
                    }

                    StartAll(workers, run, torture.Random);
                    Array.Clear(areWorking);
                }
            }

            KillAll(workers);
            survivor.Check();
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException(
                $"After {waits.Count} kills: {fault.Message}\n{run.Faults}\nAgain: {torture.Replay}", fault);
        }
        finally
        {
            survivor.Close();
            foreach (ChildProcess? worker in workers)
            {
                worker?.Dispose();
            }
        }

        string report = ReportOf(waits);
        output.WriteLine(report);
        Console.WriteLine(report);
        Assert.True(!TortureRun.IsLong || Quantile(waits, 0.99) < LongestWait, report);
    }

    private static string ReportOf(List<TimeSpan> waits) => string.Create(
        CultureInfo.InvariantCulture,
        $"{waits.Count} kills; from the kill to {WritesAfterKill} further writes: median {Quantile(waits, 0.5).TotalMilliseconds:N1} ms, " +
        $"p99 {Quantile(waits, 0.99).TotalMilliseconds:N1} ms, most {waits.Max().TotalMilliseconds:N1} ms");

    private static TimeSpan Quantile(List<TimeSpan> waits, double share) =>
        waits.Order().ElementAt((int)Math.Ceiling(waits.Count * share) - 1);

    private static void WaitUntilItWorks(ChildProcess[] workers, bool[] areWorking, int index)
    {
        if (!areWorking[index])
        {
            Assert.Equal("working", workers[index].ReadLine());
            areWorking[index] = true;
        }
    }

    // Some kills hit a process that has just started, others one that has worked for some time.
    private static void WorkForAMoment(KillWork work, Random random)
    {
        long start = Stopwatch.GetTimestamp();
        var moment = TimeSpan.FromMilliseconds(random.Next(40));
        do
        {
            work.DoNext();
        }
        while (Stopwatch.GetElapsedTime(start) < moment);
    }

    private static TimeSpan KillAndWrite(ChildProcess worker, KillWork work, Random random)
    {
        Assert.False(worker.HasEnded, "A worker ended by itself.");
        long start = Stopwatch.GetTimestamp();
        worker.BeginKill();
        for (int i = 0; i < WritesAfterKill; i++)
        {
            Assert.True(work.Set(random.Next(KillWork.KeysPerWorker)), work.Refusal);
        }

        TimeSpan wait = Stopwatch.GetElapsedTime(start);
        worker.Kill();
        worker.Dispose();
        return wait;
    }

    private static void KillAll(ChildProcess[] workers)
    {
        foreach (ChildProcess worker in workers)
        {
            worker.BeginKill();
        }

        foreach (ChildProcess worker in workers)
        {
            worker.Kill();
            worker.Dispose();
        }
    }

    private static void StartAll(ChildProcess[] workers, KillRun run, Random random)
    {
        for (int i = 0; i < workers.Length; i++)
        {
            workers[i] = Start(run, i, random);
        }
    }

    private static ChildProcess Start(KillRun run, int index, Random random) =>
        ChildProcess.Start(
            typeof(Program),
            "kill-worker",
            run.Directory,
            run.Workers.ToString(CultureInfo.InvariantCulture),
            random.Next().ToString(CultureInfo.InvariantCulture),
            (index < Writers ? index + 1 : 0).ToString(CultureInfo.InvariantCulture));
}
