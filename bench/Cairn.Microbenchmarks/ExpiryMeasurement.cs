using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Microbenchmarks;

// What active expiration costs, and how late it is, with a million keys; and what other ways to find what has expired would cost.
// Ends in about seven minutes; a part of it is chosen by "expiry idle" and the like. Figures are processor time of this process, from the kernel.
internal static partial class ExpiryMeasurement
{
    public const string Command = "expiry";

    private const int Keys = 1_000_000;
    private const int ProcessCpuTimeId = 2;
    private static readonly byte[] s_value = new byte[64];

    public static int Run(string? part)
    {
        (string Name, Action Measure)[] parts =
            [("finding", MeasureFinding), ("burst", MeasureBurst), ("mixed", MeasureMixed), ("idle", MeasureIdle), ("throughput", MeasureThroughput)];
        foreach ((string name, Action measure) in parts)
        {
            if (part is null || part == name)
            {
                measure();
            }
        }

        return 0;
    }

    // One look at everything when one entry of a thousand has expired: what is paid again and again for times to live that are mixed.
    private static void MeasureFinding()
    {
        Say("Finding 1,000 expired among 1,000,000 keys (processor time for one look)");
        using (Scene scene = Scene.Create(removes: false))
        {
            Fill(scene.Store, OneOfAThousandSooner);
            scene.Clock.Offset = TimeSpan.FromMinutes(16);
            long before = CpuNs();
            SweepTurn turn = scene.Store.SweepExpired();
            long swept = CpuNs() - before;
            before = CpuNs();
            long walked = WalkIndex(scene, out long seen);
            long indexed = CpuNs() - before;
            Say($"  segments by their first deadline: {Ms(swept)} for {turn.Looked:N0} entries looked at, {turn.Removed:N0} removed");
            Say($"  walk of the whole index:          {Ms(indexed)} for {seen:N0} entries looked at, {walked:N0} found");
        }

        using (Scene scene = Scene.Create(removes: false))
        {
            Fill(scene.Store, OneOfAThousandSooner);
            scene.Clock.Offset = TimeSpan.FromMinutes(16);
            long before = CpuNs();
            (long looked, long found, int seconds) = Sample(scene, left: 100);
            Say($"  sampling of 20 keys as in Redis:  {Ms(CpuNs() - before)} for {looked:N0} looked at, {found:N0} removed; at 10 cycles a second that is {seconds:N0} s, and 100 are left");
        }

        using (Scene scene = Scene.Create(removes: false))
        {
            Fill(scene.Store, _ => TimeSpan.FromHours(1));
            long before = CpuNs();
            for (int i = 0; i < 100; i++)
            {
                scene.Store.SweepExpired();
            }

            Say($"  nothing is due: {(CpuNs() - before) / 100_000.0:N1} us a turn for {scene.Store.GetStatistics().Segments:N0} headers; a wheel of segments would save at most that");
        }
    }

    private static void MeasureBurst()
    {
        using Scene scene = Scene.Create(removes: true);
        DateTimeOffset moment = DateTimeOffset.UtcNow.AddSeconds(8);
        Fill(scene.Store, _ => TimeSpan.Zero, moment);
        while (DateTimeOffset.UtcNow < moment)
        {
            Thread.Sleep(1);
        }

        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        while (scene.Store.GetStatistics().Entries > 0)
        {
            Thread.Sleep(5);
        }

        Say($"1,000,000 keys that expire at one moment: the figures are right after {watch.Elapsed.TotalSeconds:N2} s, for {Ms(CpuNs() - before)}");
    }

    private static void MeasureMixed()
    {
        using Scene scene = Scene.Create(removes: true);
        var deadlines = new long[Keys];
        var random = new Random(1);
        long start = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        for (int i = 0; i < Keys; i++)
        {
            deadlines[i] = start + 5_000 + random.Next(20_000);
            scene.Store.Set(KeyOf(i), s_value, Expiration.At(DateTimeOffset.FromUnixTimeMilliseconds(deadlines[i])));
        }

        Array.Sort(deadlines);
        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        long latest = 0;
        while (scene.Store.GetStatistics().Entries is > 0 and var entries)
        {
            // The oldest that is still counted, if what expired first went first.
            long now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
            latest = Math.Max(latest, now - deadlines[Keys - entries]);
            Thread.Sleep(10);
        }

        Say($"1,000,000 keys that expire one after the other, in no order, within 20 s: at most {latest / 1000.0:N2} s late, for {100 * (CpuNs() - before) / 1e6 / watch.ElapsedMilliseconds:N2} % of a processor");
    }

    // Once the first sweep has been everywhere. A removal counts as late by the age of the oldest expired entry that is still counted, if what expired first went first.
    private static void MeasureIdle()
    {
        foreach (int keys in (int[])[1_000_000, 3_000_000])
        {
            MeasureIdle(keys, "of 1 s to an hour, in no order", removes: false);
            MeasureIdle(keys, "none", removes: true);
            MeasureIdle(keys, "of an hour", removes: true);
            MeasureIdle(keys, "of 1 s to an hour, in no order", removes: true);
        }
    }

    private static void MeasureIdle(int keys, string kind, bool removes)
    {
        using Scene scene = Scene.Create(removes, capacityBytes: (512L << 20) * (keys / 1_000_000));
        var random = new Random(1);
        long[] deadlines = new long[keys];
        for (int i = 0; i < keys; i++)
        {
            DateTimeOffset at = DateTimeOffset.UtcNow.AddMilliseconds(kind.StartsWith("of 1 s", StringComparison.Ordinal) ? random.Next(1_000, 3_600_000) : 3_600_000);
            deadlines[i] = at.ToUnixTimeMilliseconds();
            scene.Store.Set(KeyOf(i), s_value, kind == "none" ? Expiration.None : Expiration.At(at));
        }

        Array.Sort(deadlines);
        Thread.Sleep(6_000);
        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        long latest = 0;
        while (watch.ElapsedMilliseconds < 8_000)
        {
            int gone = keys - (int)scene.Store.GetStatistics().Entries;
            latest = Math.Max(latest, gone < keys ? DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - deadlines[gone] : 0);
            Thread.Sleep(100);
        }

        string late = removes && kind != "none" ? $", at most {latest / 1000.0:N2} s late" : "";
        Say($"idle, {keys:N0} keys, times to live {kind}, removal {(removes ? "on" : "off")}: {100 * (CpuNs() - before) / 1e6 / watch.ElapsedMilliseconds:N3} % of a processor{late}");
    }

    // In rounds in turn. With a time to live of two seconds as much expires as is set, and without removal it is evicted instead.
    private static void MeasureThroughput()
    {
        var random = new Random(1);
        TimeSpan[] mixed = [.. Enumerable.Range(0, 4096).Select(_ => TimeSpan.FromMilliseconds(random.Next(1_000, 3_600_000)))];
        TimeSpan[] short2 = [TimeSpan.FromSeconds(2)];
        MeasureThroughput("sets, times to live of 2 s", getsPerSet: 0, short2);
        MeasureThroughput("nine gets to a set, times to live of 2 s", getsPerSet: 9, short2);
        MeasureThroughput("nine gets to a set, times to live of 1 s to an hour", getsPerSet: 9, mixed);
    }

    private static void MeasureThroughput(string what, int getsPerSet, TimeSpan[] times)
    {
        const int Rounds = 11;
        using Scene on = Scene.Create(removes: true);
        using Scene off = Scene.Create(removes: false);
        foreach (Scene scene in (Scene[])[on, off])
        {
            Fill(scene.Store, i => times[i % times.Length]);
        }

        var cpu = new List<double>();
        var wall = new List<double>();
        double nsOn = 0;
        double nsOff = 0;
        for (int round = -1; round < Rounds; round++)
        {
            (double cpuOn, double wallOn) = WorkFor(on.Store, getsPerSet, times);
            (double cpuOff, double wallOff) = WorkFor(off.Store, getsPerSet, times);
            if (round >= 0)
            {
                cpu.Add(cpuOn / cpuOff);
                wall.Add(wallOn / wallOff);
                nsOn += wallOn / Rounds;
                nsOff += wallOff / Rounds;
            }
        }

        cpu.Sort();
        wall.Sort();
        Say($"{what}, one thread: {nsOn:N0} ns an operation with removal, {nsOff:N0} without; median ratio {wall[Rounds / 2]:N3} of time, {cpu[Rounds / 2]:N3} of processor time ({Rounds} rounds)");
    }

    private static (double CpuNs, double WallNs) WorkFor(CairnStore store, int getsPerSet, TimeSpan[] times)
    {
        Span<byte> destination = stackalloc byte[128];
        Span<byte> key = stackalloc byte[12];
        var random = new Random(2);
        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        long count = 0;
        while (watch.ElapsedMilliseconds < 1_500)
        {
            for (int i = 0; i < 1000; i++, count++)
            {
                int number = random.Next(Keys);
                number.TryFormat(key, out _, "D12", CultureInfo.InvariantCulture);
                if (count % (getsPerSet + 1) == 0)
                {
                    store.Set(key, s_value, times[number % times.Length]);
                }
                else
                {
                    store.TryGet(key, destination, out int _);
                }
            }
        }

        return ((CpuNs() - before) / (double)count, watch.Elapsed.TotalNanoseconds / count);
    }

    private static unsafe long WalkIndex(Scene scene, out long seen)
    {
        CairnStore store = scene.Store;
        StoreMemory memory = store.Engine.Memory;
        long now = store.Engine.Clock.NowMs();
        long expired = 0;
        seen = 0;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            for (int i = 0; i < memory.Layout.BucketsPerPartition; i++)
            {
                Bucket* bucket = memory.BucketAt(number, i);
                for (int slot = 0; slot < Bucket.Slots; slot++)
                {
                    if (*Bucket.SlotAt(bucket, slot) != 0 && memory.TryView(*Bucket.SlotAt(bucket, slot), out EntryView entry))
                    {
                        seen++;
                        expired += entry.Deadline <= now ? 1 : 0;
                    }
                }
            }
        }

        return expired;
    }

    // Redis' cycle: 20 random keys with a time to live, again while more than a tenth of them had expired, ten times a second.
    private static unsafe (long Looked, long Removed, int Seconds) Sample(Scene scene, int left)
    {
        CairnStore store = scene.Store;
        const int SampleKeys = 20;
        StoreMemory memory = store.Engine.Memory;
        var random = new Random(1);
        long looked = 0;
        long removed = 0;
        int cycles = 0;
        while (store.GetStatistics().Entries > Keys - 1000 + left && cycles < 200_000)
        {
            cycles++;
            int expired;
            do
            {
                int sampled = 0;
                expired = 0;
                long now = store.Engine.Clock.NowMs();
                while (sampled < SampleKeys)
                {
                    Bucket* bucket = memory.BucketAt(random.Next(memory.PartitionCount), random.Next(memory.Layout.HomeBuckets));
                    for (int slot = 0; slot < Bucket.Slots && sampled < SampleKeys; slot++)
                    {
                        if (*Bucket.SlotAt(bucket, slot) == 0 || !memory.TryView(*Bucket.SlotAt(bucket, slot), out EntryView entry))
                        {
                            continue;
                        }

                        sampled++;
                        looked++;
                        if (entry.Deadline <= now && store.Engine.TryExpire(store.Engine.Place(entry.Key, entry.KeyLength, 0)))
                        {
                            expired++;
                        }
                    }
                }

                removed += expired;
            }
            while (expired * 10 > SampleKeys);
        }

        return (looked, removed, cycles / 10);
    }

    private static void Fill(CairnStore store, Func<int, TimeSpan> timeToLive, DateTimeOffset? moment = null)
    {
        for (int i = 0; i < Keys; i++)
        {
            store.Set(KeyOf(i), s_value, moment is { } at ? Expiration.At(at) : Expiration.After(timeToLive(i)));
        }
    }

    // Of one order of magnitude, so that they lie in the same segments.
    private static TimeSpan OneOfAThousandSooner(int i) => TimeSpan.FromMinutes(i % 1000 == 0 ? 15 : 55);

    private static byte[] KeyOf(int i)
    {
        byte[] key = new byte[12];
        i.TryFormat(key, out _, "D12", CultureInfo.InvariantCulture);
        return key;
    }

    private static string Ms(long ns) => string.Create(CultureInfo.InvariantCulture, $"{ns / 1e6:N1} ms");

    private static void Say(FormattableString text) => Console.WriteLine(text.ToString(CultureInfo.InvariantCulture));

    private static void Say(string text) => Console.WriteLine(text);

    private static long CpuNs() => ClockGetTime(ProcessCpuTimeId, out TimeSpec time) == 0
        ? (time.Seconds * 1_000_000_000) + time.Nanoseconds
        : throw new InvalidOperationException("The kernel has no processor-time clock of the process.");

    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int ClockGetTime(int clock, out TimeSpec time);

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }

    private sealed class Scene : IDisposable
    {
        private Scene(CairnStore store, ShiftedClock clock)
        {
            Store = store;
            Clock = clock;
        }

        public ShiftedClock Clock { get; }

        public CairnStore Store { get; }

        public static Scene Create(bool removes, long capacityBytes = 512L << 20)
        {
            string path = Path.Combine(Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"cairn-expiry-{Environment.ProcessId}-{Guid.NewGuid():N}.cairn");
            var clock = new ShiftedClock();
            return new Scene(
                CairnStore.Open(new StoreOptions
                {
                    Path = path,
                    CapacityBytes = capacityBytes,
                    FlushOnClose = false,
                    PreTouch = true,
                    RemovesExpired = removes,
                    Clock = clock,
                }),
                clock);
        }

        public void Dispose()
        {
            Store.Dispose();
            File.Delete(Store.Path);
        }
    }

    private sealed class ShiftedClock : TimeProvider
    {
        public TimeSpan Offset { get; set; }

        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Offset;
    }
}
