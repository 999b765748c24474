using System.Collections.Concurrent;
using System.Diagnostics;
using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Damage;

/// <summary>
/// A program that has the file mapped writes garbage into it (lengths, links, anything) while others work on the store. This costs misses. It never
/// corrupts the memory of the others, and they never return a wrong value.
/// </summary>
public sealed class ScribblerTests(ITestOutputHelper output)
{
    private const int Workers = 2;

    private static readonly TimeSpan LongestSilence = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Duration = TimeSpan.FromSeconds(TortureRun.Count(3, 120));

    [Fact]
    public async Task Garbage_written_into_the_file_costs_misses_and_no_memory_safety()
    {
        var run = new TortureRun(output);
        for (int round = 0; round < TortureRun.Count(1, 30); round++)
        {
            using var directory = new StoreDirectory();
            using (CairnStore store = CairnStore.Open(directory.Options with { CapacityBytes = (1 + round % 3) << 20 }))
            {
                store.Collection(DamageWork.CollectionName); // Created before, because a worker that does not get the lock at once could not begin.
            }

            int seed = TortureRun.SeedOf(run.Seed, round);
            var said = new ConcurrentQueue<string>();

            await WorkWhileScribbling(directory.FilePath, seed, said);
            Use(directory.FilePath, seed, said);

            Assert.True(said.All(line => !line.StartsWith("fault", StringComparison.Ordinal)), $"{string.Join('\n', said)}\n{run.Replay}");
            output.WriteLine(string.Join("; ", said));
        }
    }

    private static async Task WorkWhileScribbling(string path, int seed, ConcurrentQueue<string> said)
    {
        ChildProcess[] workers =
        [
            .. Enumerable.Range(0, Workers).Select(owner => Start("damage-work", path, $"{seed + owner}", $"{owner}", $"{Workers}")),
        ];
        try
        {
            Assert.All(workers, worker => Assert.Equal("open", worker.ReadLine()));
            using ChildProcess scribbler = Start("damage-scribble", path, $"{seed}");
            Assert.Equal("scribbling", scribbler.ReadLine());
            Task<string>[] lastLines = [.. workers.Select(worker => OwnThread.Run(() => ReadToEnd(worker)))];
            long start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start) < Duration && lastLines.All(line => !line.IsCompleted))
            {
                await Task.WhenAny([Task.Delay(TimeSpan.FromMilliseconds(100)), .. lastLines]); // The damage goes on for some time.
            }

            scribbler.WriteLine("stop");
            said.Enqueue(scribbler.ReadLine());
            foreach (ChildProcess worker in workers)
            {
                worker.WriteLine("stop");
            }

            foreach (string line in await Task.WhenAll(lastLines))
            {
                said.Enqueue(line);
            }
        }
        finally
        {
            Array.ForEach(workers, worker => worker.Dispose());
        }
    }

    // A process that uses the store afterwards.
    private static void Use(string path, int seed, ConcurrentQueue<string> said)
    {
        using ChildProcess user = Start("damage-use", path, $"{seed}");
        said.Enqueue(ReadToEnd(user));
    }

    /// <summary>Returns the last line of a process: a fault, or how much it did.</summary>
    private static string ReadToEnd(ChildProcess process)
    {
        using var watch = new SilenceWatch(process, LongestSilence);
        string last = "nothing";
        while (watch.TryReadLine() is { } line)
        {
            if (!line.StartsWith("at ", StringComparison.Ordinal))
            {
                return !line.StartsWith("done", StringComparison.Ordinal) ? line
                    : process.Finish() is var exitCode and not 0 ? $"fault: exit code {exitCode} after '{line}'."
                    : $"{last}, {line}";
            }

            last = line;
        }

        return $"fault: {watch.Cause} after '{last}'.";
    }

    private static ChildProcess Start(string role, params string[] arguments) => ChildProcess.Start(typeof(Program), [role, .. arguments]);
}
