using System.Diagnostics;
using System.Globalization;
using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Microbenchmarks;

// Measures the cost and the delay of active expiration with a million keys, and the cost of other ways to find expired entries. It takes about
// five minutes. An argument such as "expiry idle" selects one part. Figures are processor time of this process, from the kernel.
internal static class ExpiryMeasurement
{
    public const string Command = "expiry";

    private const int Keys = 1_000_000;
    private static readonly byte[] s_value = new byte[64];

    public static int Run(string? part)
    {
        (string Name, Action Measure)[] parts =
            [("finding", MeasureFinding), ("burst", MeasureBurst), ("mixed", MeasureMixed), ("idle", MeasureIdle)];
        foreach ((string name, Action measure) in parts)
        {
            if (part is null || part == name)
            {
                measure();
            }
        }

        return 0;
    }

    // One pass over all entries when one of a thousand has expired. A store with mixed times to live pays this cost again and again.
    private static void MeasureFinding()
    {
        Say("Finding 1,000 expired among 1,000,000 keys (processor time for one look)");
        using (ExpiryScene scene = ExpiryScene.Create(removes: false))
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

        using (ExpiryScene scene = ExpiryScene.Create(removes: false))
        {
            Fill(scene.Store, OneOfAThousandSooner);
            scene.Clock.Offset = TimeSpan.FromMinutes(16);
            long before = CpuNs();
            (long looked, long found, int seconds) = Sample(scene, left: 100);
            Say($"  sampling of 20 keys as in Redis:  {Ms(CpuNs() - before)} for {looked:N0} looked at, {found:N0} removed; at 10 cycles a second that is {seconds:N0} s, and 100 are left");
        }

        using (ExpiryScene scene = ExpiryScene.Create(removes: false))
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
        using ExpiryScene scene = ExpiryScene.Create(removes: true);
        DateTimeOffset moment = DateTimeOffset.UtcNow.AddSeconds(8);
        Fill(scene.Store, _ => TimeSpan.Zero, moment);
        while (DateTimeOffset.UtcNow < moment)
        {
            Thread.Sleep(1);
        }

        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        while (scene.Store.GetStatistics().Totals.Entries > 0)
        {
            Thread.Sleep(5);
        }

        Say($"1,000,000 keys that expire at one moment: the figures are right after {watch.Elapsed.TotalSeconds:N2} s, for {Ms(CpuNs() - before)}");
    }

    private static void MeasureMixed()
    {
        using ExpiryScene scene = ExpiryScene.Create(removes: true);
        var deadlines = new long[Keys];
        var random = new Random(1);
        long start = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        for (int i = 0; i < Keys; i++)
        {
            deadlines[i] = start + 5_000 + random.Next(20_000);
            scene.Store.DefaultCollection.Set(KeyOf(i), s_value, Expiration.At(DateTimeOffset.FromUnixTimeMilliseconds(deadlines[i])));
        }

        Array.Sort(deadlines);
        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        long latest = 0;
        while (scene.Store.GetStatistics().Totals.Entries is > 0 and var entries)
        {
            // The age of the oldest expired entry that is still counted, if entries were removed in the order of their deadlines.
            long now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
            latest = Math.Max(latest, now - deadlines[Keys - entries]);
            Thread.Sleep(10);
        }

        Say($"1,000,000 keys that expire one after the other, in no order, within 20 s: at most {latest / 1000.0:N2} s late, for {100 * (CpuNs() - before) / 1e6 / watch.ElapsedMilliseconds:N2} % of a processor");
    }

    // Measures after the first sweep has visited all entries. A delay is the age of the oldest expired entry that is still counted, if entries were
    // removed in the order of their deadlines.
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
        using ExpiryScene scene = ExpiryScene.Create(removes, capacityBytes: (512L << 20) * (keys / 1_000_000));
        var random = new Random(1);
        long[] deadlines = new long[keys];
        for (int i = 0; i < keys; i++)
        {
            DateTimeOffset at = DateTimeOffset.UtcNow.AddMilliseconds(kind.StartsWith("of 1 s", StringComparison.Ordinal) ? random.Next(1_000, 3_600_000) : 3_600_000);
            deadlines[i] = at.ToUnixTimeMilliseconds();
            scene.Store.DefaultCollection.Set(KeyOf(i), s_value, kind == "none" ? Expiration.None : Expiration.At(at));
        }

        Array.Sort(deadlines);
        Thread.Sleep(6_000);
        long before = CpuNs();
        var watch = Stopwatch.StartNew();
        long latest = 0;
        while (watch.ElapsedMilliseconds < 8_000)
        {
            int gone = keys - (int)scene.Store.GetStatistics().Totals.Entries;
            latest = Math.Max(latest, gone < keys ? DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - deadlines[gone] : 0);
            Thread.Sleep(100);
        }

        string late = removes && kind != "none" ? $", at most {latest / 1000.0:N2} s late" : "";
        Say($"idle, {keys:N0} keys, times to live {kind}, removal {(removes ? "on" : "off")}: {100 * (CpuNs() - before) / 1e6 / watch.ElapsedMilliseconds:N3} % of a processor{late}");
    }

    private static unsafe long WalkIndex(ExpiryScene scene, out long seen)
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

    // Redis' cycle examines 20 random keys that have a time to live. It repeats while more than a tenth of them had expired, ten times a second.
    private static unsafe (long Looked, long Removed, int Seconds) Sample(ExpiryScene scene, int left)
    {
        CairnStore store = scene.Store;
        const int SampleKeys = 20;
        StoreMemory memory = store.Engine.Memory;
        var random = new Random(1);
        long looked = 0;
        long removed = 0;
        int cycles = 0;
        while (store.GetStatistics().Totals.Entries > Keys - 1000 + left && cycles < 200_000)
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
            store.DefaultCollection.Set(KeyOf(i), s_value, moment is { } at ? Expiration.At(at) : Expiration.After(timeToLive(i)));
        }
    }

    // Both times to live have the same order of magnitude, so their entries are in the same segments.
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

    private static long CpuNs() => ProcessorTime.OfProcess();
}
