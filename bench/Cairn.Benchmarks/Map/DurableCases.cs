using System.Diagnostics;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Map;

/// <summary>Compares puts of many tasks that each wait for the disk with the time that the disk takes for one record.</summary>
internal static class DurableCases
{
    public static void Measure(AreaRun run, MapScale scale)
    {
        run.Measure("group commit", scale.Rounds, group =>
        {
            var map = group.Own(BenchmarkMap.Create(run.Settings.Folder, "group", scale.Entries, Durability.GroupCommit));
            var put = group.Enter(new GroupPut(map, scale.DurablePuts));
            var threads = group.Enter(new ThreadPut(map, scale.DurablePuts));
            var one = group.Enter(new RecordSync(Path.Combine(run.Settings.Folder, "records"), scale.DurablePuts / MapScale.WritingTasks));
            group.Compare($"put, group commit, {MapScale.WritingTasks} tasks, per put", put, one, Goal.AtMost(0.1), Quantity.WallTime);
            group.Compare($"put, group commit, {MapScale.WritingTasks} threads, per put", threads, one, Goal.AtMost(0.1), Quantity.WallTime);
        });
    }

    // Several tasks that put. Each waits for its own puts, on as many threads as the runtime chooses.
    private sealed class GroupPut(PersistentMap<int, int> map, int puts) : IContender
    {
        public string Name => CairnSubject.Name;

        public void WarmUp() => Measure(0);

        public Sample Measure(int round)
        {
            var each = puts / MapScale.WritingTasks;
            var meter = Meter.Start();
            var tasks = Enumerable.Range(0, MapScale.WritingTasks).Select(task => Task.Run(async () =>
            {
                for (var i = task * each; i < (task + 1) * each; i++)
                {
                    await map.SetAsync(i, i + round).ConfigureAwait(false);
                }
            })).ToArray();
#pragma warning disable VSTHRD002 // The tasks run on the thread pool, and none needs this thread.
            Task.WaitAll(tasks);
#pragma warning restore VSTHRD002
            return meter.Stop(each * MapScale.WritingTasks);
        }

        public void Dispose()
        {
        }
    }

    // The same puts, with a thread for each writer.
    private sealed class ThreadPut(PersistentMap<int, int> map, int puts) : IContender
    {
        public string Name => CairnSubject.Name;

        public void WarmUp() => Measure(0);

        public Sample Measure(int round)
        {
            var each = puts / MapScale.WritingTasks;
            var meter = Meter.Start();
            var threads = Enumerable.Range(0, MapScale.WritingTasks).Select(task => new Thread(() =>
            {
                for (var i = task * each; i < (task + 1) * each; i++)
                {
                    map[i] = i + round;
                }
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            return meter.Stop(each * MapScale.WritingTasks);
        }

        public void Dispose()
        {
        }
    }
}

/// <summary>Writes a record of 64 bytes to a preallocated file and waits until it is on the disk.</summary>
internal sealed partial class RecordSync(string path, int operations) : IContender
{
    private const int RecordBytes = 64;
    private const int FileBytes = 64 << 20;

    private readonly FileStream _file = new(path, new FileStreamOptions
    {
        Mode = FileMode.Create,
        Access = FileAccess.ReadWrite,
        PreallocationSize = FileBytes,
        BufferSize = 0,
    });

    private readonly byte[] _record = new byte[RecordBytes];
    private long _position;

    public string Name => "one fdatasync";

    public void WarmUp() => Measure(0);

    public Sample Measure(int round)
    {
        var startedAt = Stopwatch.GetTimestamp();
        for (var i = 0; i < operations; i++)
        {
            RandomAccess.Write(_file.SafeFileHandle, _record, _position);
            _position = (_position + RecordBytes) % FileBytes;
            if (SynchronizeData(_file.SafeFileHandle) != 0)
            {
                throw new IOException($"fdatasync failed: {System.Runtime.InteropServices.Marshal.GetLastPInvokeErrorMessage()}");
            }
        }

        var ns = Stopwatch.GetElapsedTime(startedAt).TotalNanoseconds / operations;
        return new Sample(CpuNs: ns, WallNs: ns, BytesAllocated: 0);
    }

    public void Dispose() => _file.Dispose();

    [System.Runtime.InteropServices.LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)]
    [System.Runtime.InteropServices.DefaultDllImportSearchPaths(System.Runtime.InteropServices.DllImportSearchPath.SafeDirectories)]
    private static partial int SynchronizeData(Microsoft.Win32.SafeHandles.SafeFileHandle file);
}
