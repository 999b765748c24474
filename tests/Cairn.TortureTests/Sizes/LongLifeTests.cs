using System.Globalization;
using System.Runtime.CompilerServices;
using Cairn.Platform;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Sizes;

/// <summary>
/// Ten hours, on the store's clock, of a store with a log: written, expired, cleared, copied, closed, opened, rebuilt after restarts. At the end it
/// uses as much disk space, and as many segments, descriptors and mappings, as at the beginning.
/// </summary>
public sealed class LongLifeTests(ITestOutputHelper output)
{
    private const int Lives = 20;
    private const int Keys = 300;
    private const int LongestValue = 800;
    private const long CapacityBytes = 2L << 20;
    private const long MaxCapacityBytes = 3L << 20;

    // Upper bounds: of a snapshot, and of the growth of the log before the next check of whether a checkpoint is due.
    private const long SnapshotBytes = (Keys * (LongestValue + 200)) + (64 << 10);
    private const int LookEvery = 50;
    private const long LogBytes = SnapshotBytes + (LookEvery * 4 * (LongestValue + 200)) + (3 * StoreLimits.MinLogFileBytes);

    private static readonly TimeSpan Time = TimeSpan.FromHours(10);
    private static readonly CollectionOptions Logged = new() { Region = StoreRegion.Keep };

    private readonly ManualClock _clock = new();
    private readonly Dictionary<string, Value> _expected = new(StringComparer.Ordinal);
    private int _values;
    private long _logBytes;

    [Fact]
    public void Long_life_leaks_neither_segments_nor_files_nor_handles_and_keeps_its_sizes()
    {
        var torture = new TortureRun(output);
        int operations = TortureRun.Count(1_500, 1_000_000);
        using var directory = new StoreDirectory();
        int filled = Fill(directory);
        for (int life = 0; life < Lives; life++)
        {
            Live(directory, torture.Random, operations);
            CheckFiles(directory);
            CheckHandles(directory.Path);
        }

        int filledAgain = Fill(directory);
        Assert.InRange(filledAgain, filled * 95 / 100, filled * 105 / 100);
        CheckHandles(directory.Path);
        output.WriteLine($"{Lives * operations:N0} operations; a log of {_logBytes:N0} bytes at most, and room for {filled:N0} and {filledAgain:N0} entries.");
    }

    // Returns the number of entries for which the store has room.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private int Fill(StoreDirectory directory)
    {
        using CairnStore store = CairnStore.Open(OptionsFor(directory));
        Assert.True(store.ClearAll());
        _expected.Clear();
        CairnCollection kept = store.Collection("filling", Logged with { Durability = Durability.ProcessCrash });
        int filled = 0;
        try
        {
            while (kept.Set(filled.ToString(CultureInfo.InvariantCulture), TestBytes.Of(LongestValue)))
            {
                filled++;
            }
        }
        catch (StoreFullException)
        {
            StoreAudit.Check(store);
        }

        Assert.True(store.ClearAll());
        return filled;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Live(StoreDirectory directory, Random random, int operations)
    {
        StorePlatform.BootIdOverride = random.Next(3) == 0 ? Guid.NewGuid().ToString() : null;
        using CairnStore store = CairnStore.Open(OptionsFor(directory) with { FlushOnClose = random.Next(2) == 0 });
        StorePlatform.BootIdOverride = null;
        CairnCollection kept = store.Collection("kept", Logged);
        Check(kept);
        for (int i = 0; i < operations; i++)
        {
            Do(store, kept, random);
            _clock.Advance(Time / (Lives * (double)operations));
            if (i % LookEvery == 0 && store.Checkpointer.IsDue(StoreLimits.MinLogFileBytes))
            {
                store.Checkpoint();
            }
        }

        if (random.Next(4) == 0)
        {
            store.Backup(directory["backup"]);
        }

        Check(kept);
        StoreAudit.Check(store);
    }

    private void Do(CairnStore store, CairnCollection kept, Random random)
    {
        string key = Key(random);
        switch (random.Next(1_000))
        {
            case 0:
                Assert.True(kept.Clear());
                _expected.Clear();
                break;
            case < 100:
                kept.Remove(key);
                _expected.Remove(key);
                break;
            case < 300:
                store.DefaultCollection.Set(key, TestBytes.Of(random.Next(4 * LongestValue)), TimeSpan.FromMinutes(random.Next(1, 30)));
                break;
            case < 350:
                using (StoreTransaction transaction = store.BeginTransaction())
                {
                    for (int i = 0; i < 3; i++)
                    {
                        key = Key(random);
                        Value part = Next(random);
                        transaction.Set(kept, key, part.Bytes);
                        _expected[key] = part;
                    }

                    Assert.True(transaction.Commit());
                }

                break;
            case < 450:
                TimeSpan timeToLive = TimeSpan.FromMinutes(random.Next(1, 30));
                Value expiring = Next(random) with { Deadline = _clock.Now + timeToLive };
                Assert.True(kept.Set(key, expiring.Bytes, timeToLive));
                _expected[key] = expiring;
                break;
            default:
                Value value = Next(random);
                Assert.True(kept.Set(key, value.Bytes));
                _expected[key] = value;
                break;
        }
    }

    // The store's clock can be slightly behind, so an entry that expires within that time may exist or not.
    private void Check(CairnCollection kept)
    {
        for (int number = 0; number < Keys; number++)
        {
            string key = number.ToString(CultureInfo.InvariantCulture);
            byte[]? found = kept.Get(key);
            if (!_expected.TryGetValue(key, out Value value) || value.Deadline <= _clock.Now - TimeSpan.FromSeconds(2))
            {
                Assert.Null(found);
            }
            else if (found is not null || value.Deadline > _clock.Now + TimeSpan.FromSeconds(2))
            {
                Assert.Equal(value.Bytes, found);
            }
        }
    }

    private void CheckFiles(StoreDirectory directory)
    {
        long log = 0;
        foreach (FileInfo file in new DirectoryInfo(directory.Path).GetFiles())
        {
            if (file.Name.StartsWith("store.cairn.log-", StringComparison.Ordinal))
            {
                log += file.Length;
            }
            else
            {
                Assert.InRange(file.Length, 0, file.Name switch
                {
                    "store.cairn" => MaxCapacityBytes,
                    "store.cairn.snapshot" => SnapshotBytes,
                    "backup" => MaxCapacityBytes + LogBytes,
                    _ => throw new InvalidOperationException($"The file '{file.Name}' is unknown."),
                });
            }
        }

        _logBytes = Math.Max(_logBytes, log);
        Assert.InRange(log, 0, LogBytes);
    }

    // The mapping is released with the last reference to the store.
    private static void CheckHandles(string directory)
    {
        Assert.DoesNotContain(
            Directory.GetFiles("/proc/self/fd"),
            path => new FileInfo(path).LinkTarget?.StartsWith(directory, StringComparison.Ordinal) == true);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.DoesNotContain(File.ReadLines("/proc/self/maps"), line => line.Contains(directory, StringComparison.Ordinal));
    }

    private StoreOptions OptionsFor(StoreDirectory directory) => directory.Options with
    {
        CapacityBytes = CapacityBytes,
        MaxCapacityBytes = MaxCapacityBytes,
        LogFileBytes = StoreLimits.MinLogFileBytes,
        CheckpointsByItself = false,
        TimeProvider = _clock,
    };

    private static string Key(Random random) => random.Next(Keys).ToString(CultureInfo.InvariantCulture);

    private Value Next(Random random) => new(++_values, random.Next(LongestValue), DateTimeOffset.MaxValue);

    private readonly record struct Value(int Seed, int Length, DateTimeOffset Deadline)
    {
        public byte[] Bytes => TestBytes.Of(Length, Seed);
    }
}
