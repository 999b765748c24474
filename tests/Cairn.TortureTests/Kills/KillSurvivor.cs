using System.Globalization;

namespace Cairn.TortureTests.Kills;

/// <summary>The process that remains after a death. It checks everything, continues to work, and checks that the store is consistent.</summary>
internal sealed class KillSurvivor
{
    // At least the number of processes that can have died since the last check. Each opening takes the slot of one and cleans up after it.
    private const int FreshOpenings = 5;

    private readonly KillRun _run;
    private readonly KillJournal _journal;
    private readonly Random _random;
    private readonly KillSizes _sizes;
    private readonly StoreOptions _options;
    private StoreStatistics? _before;
    private CairnStore? _store;

    public KillSurvivor(KillRun run, KillJournal journal, Random random, KillSizes sizes, StoreOptions options)
    {
        _run = run;
        _journal = journal;
        _random = random;
        _sizes = sizes;
        _options = options;
    }

    public CairnStore Store => _store ??= CairnStore.Open(_options);

    public KillWork Work => new(Store, _journal, worker: 0, _random, _sizes);

    public void Close()
    {
        _store?.Dispose();
        _store = null;
    }

    /// <summary>Checks everything that must hold while no other process uses the store.</summary>
    public void Check()
    {
        KillWork work = Work;
        long[] first = ReadAll(work);
        WriteEveryPartition();
        CheckUnchanged(first, ReadAll(work), "after writing");
        CairnStore[] fresh = [.. Enumerable.Range(0, FreshOpenings).Select(_ => CairnStore.Open(_options))];
        CheckUnchanged(first, ReadAll(new KillWork(fresh[0], _journal, worker: 0, _random, _sizes)), "in a fresh opening");
        foreach (CairnStore store in fresh)
        {
            store.Dispose();
        }

        CheckStatistics();
        StoreAudit.Check(Store, areBooksExact: false);
        VerifyReport report = StoreMaintenance.Verify(_run.StorePath);
        Assert.True(
            report.IsSound, string.Join('\n', report.Findings.Where(finding => finding.Severity == VerifySeverity.Damage)));
        Assert.Equal("", _run.Faults);
    }

    // No process writes these keys. So a missing entry does not come back, and an existing one does not change. It can be evicted.
    private static void CheckUnchanged(long[] before, long[] after, string when)
    {
        for (int key = 0; key < before.Length; key++)
        {
            Assert.True(
                after[key] == 0 || after[key] == before[key],
                $"Key {key} held write {before[key]} (0: none) after the death, and {when} write {after[key]}.");
        }
    }

    private long[] ReadAll(KillWork work)
    {
        var sequences = new long[_journal.Keys];
        for (int key = 0; key < sequences.Length; key++)
        {
            sequences[key] = work.Read(key);
        }

        return sequences;
    }

    // Within the store's time-out of one second, each set acquires its partition's lock or returns false. It also returns false if there is no
    // room between kept entries.
    private void WriteEveryPartition()
    {
        var isWritten = new bool[Store.PartitionCount];
        for (int i = 0; isWritten.Contains(value: false); i++)
        {
            string key = string.Create(CultureInfo.InvariantCulture, $"probe {i}");
            ref bool isPartitionWritten = ref isWritten[Store.DefaultCollection.PartitionOf(key)];
            if (!isPartitionWritten)
            {
                isPartitionWritten = true;
                long declined = Store.GetStatistics().Totals.Declined;
                bool isStored = Store.DefaultCollection.Set(key, "written"u8);
                Assert.True(
                    isStored || Store.GetStatistics().Totals.Declined > declined,
                    $"Partition {Store.DefaultCollection.PartitionOf(key)} could not be written within its time-out.");
                Assert.Equal(isStored ? "written" : null, Store.DefaultCollection.GetString(key));
            }
        }
    }

    private void CheckStatistics()
    {
        StoreStatistics now = Store.GetStatistics();
        Assert.InRange(now.Totals.Entries, 1, now.IndexSlots);
        Assert.InRange(now.Totals.Bytes, 1, now.Totals.SegmentBytes);
        Assert.InRange(now.Totals.SegmentBytes, 1, now.FileBytes);
        Assert.InRange(now.FreeSegments, 0, now.Segments);
        Assert.Equal(1, now.Openings);
        Assert.Equal(0, now.Totals.DamagedEntries);
        Assert.All(now.Partitions, partition => Assert.InRange(partition.Entries, 0, now.Totals.Entries));
        if (_before is { } before && before.CreatedAt == now.CreatedAt)
        {
            Assert.True(now.Totals.Sets >= before.Totals.Sets && now.Totals.Recoveries >= before.Totals.Recoveries && now.Totals.Evictions >= before.Totals.Evictions);
        }

        _before = now;
    }
}
