using Cairn.Tests.Platform;

namespace Cairn.Tests.Offline;

/// <summary>Verifying undamaged stores, and stores in the state that dead processes left.</summary>
public sealed class VerifyTests : StoreTest
{
    [Fact]
    public void New_store_is_sound()
    {
        Store.Dispose();

        VerifyReport report = Verify();

        AssertSound(report);
        Assert.False(report.WasInUse);
        Assert.Equal((0, 0, 0), (report.Entries, report.Openings, report.Collections));
        Assert.Equal(new FileInfo(FilePath).Length, report.FileBytes);
        Assert.Empty(report.Findings);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Store_is_sound_after_random_work_open_or_closed(int seed)
    {
        new RandomWork(Store, Clock, seed).Do(20_000);

        VerifyReport open = Verify();
        Store.Dispose();
        VerifyReport closed = Verify();

        AssertSound(open);
        AssertSound(closed);
        Assert.Equal((true, 1), (open.WasInUse, open.Openings));
        Assert.Equal((false, 0), (closed.WasInUse, closed.Openings));
        Assert.Empty(closed.Findings);
    }

    [Theory]
    [InlineData(1L << 20, 128)]
    [InlineData(8L << 20, 32)]
    [InlineData(40L << 20, 100_000)]
    public void Store_of_any_layout_is_sound_after_it_has_evicted(long capacityBytes, int averageEntryBytes)
    {
        CairnStore store = Open(Options with { CapacityBytes = capacityBytes, AverageEntryBytes = averageEntryBytes });
        for (int i = 0; i < 2.5 * capacityBytes / 1_000; i++)
        {
            store.DefaultCollection.Set($"key:{i}", TestBytes.Of(1_000), i % 2 == 0 ? TimeSpan.FromHours(1) : Expiration.None);
            store.DefaultCollection.Get($"key:{i / 2}");
        }

        store.Dispose();

        VerifyReport report = Verify();

        AssertSound(report);
        Assert.Empty(report.Findings);
        Assert.InRange(report.Entries, 100, capacityBytes / 1_000);
    }

    [Fact]
    public void Store_that_has_grown_is_sound()
    {
        CairnStore store = Open(Options with { CapacityBytes = 8 << 20, MaxCapacityBytes = 32 << 20 });
        for (int i = 0; i < 15_000; i++)
        {
            store.DefaultCollection.Set($"key:{i}", TestBytes.Of(1_000));
        }

        store.Dispose();

        VerifyReport report = Verify();

        AssertSound(report);
        Assert.Equal(15_000, report.Entries);
        Assert.True(report.FileBytes > 15_000_000);
    }

    [Fact]
    public void Store_that_was_closed_with_a_flush_is_sound()
    {
        CairnStore store = Open(Options with { FlushOnClose = true });
        new RandomWork(store, Clock, 4).Do(5_000);
        store.Dispose();

        AssertSound(Verify());
    }

    [Fact]
    public void Entries_are_counted_by_what_a_reader_gets_of_them()
    {
        Cache.Set("live", "value"u8);
        Cache.Set("long", TestBytes.Of(300_000));
        Cache.Set("expired", "value"u8, TimeSpan.FromSeconds(1));
        Cache.Set("sliding", "value"u8, Expiration.Sliding(TimeSpan.FromHours(1)));
        Cache.Set("replaced", "1"u8);
        Cache.Set("replaced", "2"u8);
        Cache.Set("removed", "value"u8);
        Cache.Remove("removed");
        Store.Collection("cleared").Set("key", "value"u8);
        Store.Collection("cleared").Clear();
        Cache.AcquireLease("leased", TimeSpan.Zero, out _);
        Clock.Advance(TimeSpan.FromSeconds(2));

        VerifyReport report = Verify();

        AssertSound(report);
        Assert.Equal((4, 1, 1, 1), (report.Entries, report.ExpiredEntries, report.ClearedEntries, report.Leases));
        Assert.Equal((2, 1, 0), (report.DeadEntries, report.Collections, report.DamagedEntries));
    }

    [Fact]
    public void Pins_that_a_dead_process_left_are_left_over_and_gone_after_the_next_opening()
    {
        Cache.Set("key", "value"u8);
        Store.Dispose();
        using (var child = ChildProcess.Start(typeof(VerifyTests), "hold-pins", FilePath, "key"))
        {
            child.ReadLine();
            child.WriteLine("pin");
            Assert.Equal("1", child.ReadLine());
            AssertSound(Verify());
            child.Kill();
        }

        VerifyReport report = Verify();
        OpenAgain().Dispose();
        VerifyReport after = Verify();

        AssertSound(report);
        VerifyFinding finding = Assert.Single(report.Findings);
        Assert.Equal((VerifySeverity.Leftover, VerifyArea.Owners), (finding.Severity, finding.Area));
        Assert.Empty(after.Findings);
    }

    [Theory]
    [InlineData("EntryCopied")]
    [InlineData("TailStored")]
    [InlineData("BucketVersionRaised")]
    [InlineData("SlotStored")]
    [InlineData("SegmentTaken")]
    [InlineData("SegmentOpened")]
    [InlineData("SegmentSealed")]
    [InlineData("SurvivorCopied")]
    [InlineData("VictimCleared")]
    [InlineData("RunSegmentReserved")]
    [InlineData("RunPublished")]
    [InlineData("Growing")]
    [InlineData("Grown")]
    public void Leftovers_of_a_process_that_dies_at_a_step_are_found_and_gone_after_recovery(string step)
    {
        StoreOptions options = Options with { MaxCapacityBytes = step.StartsWith("Grow", StringComparison.Ordinal) ? 16 << 20 : 0 };
        Open(options).Dispose();
        using (var child = ChildProcess.Start(typeof(VerifyTests), "die-at", FilePath, step))
        {
            Assert.Equal("dying", child.ReadLine());
            child.Finish();
        }

        VerifyReport report = Verify();
        CairnStore next = OpenAgain();
        new RandomWork(next, Clock, 5).Do(1_000);
        next.Dispose();
        VerifyReport after = Verify();

        AssertSound(report);
        AssertSound(after);
        Assert.Empty(after.Findings);
    }

    [Fact]
    public void Store_of_a_machine_that_restarted_is_noted_because_opening_empties_it()
    {
        Cache.Set("key", "value"u8);
        Store.Dispose();
        Cairn.Platform.StorePlatform.BootIdOverride = "11111111-2222-3333-4444-555555555555";

        VerifyReport report = Verify();

        Cairn.Platform.StorePlatform.BootIdOverride = null;
        AssertSound(report);
        VerifyFinding finding = Assert.Single(report.Findings);
        Assert.Equal((VerifySeverity.Note, VerifyArea.Superblock), (finding.Severity, finding.Area));
    }

    [RequiresMountFact]
    public void Store_on_a_read_only_file_system_is_verified()
    {
        using var mount = TestMount.Tmpfs(16 << 20);
        Cache.Set("key", "value"u8);
        Store.Dispose();
        File.Copy(FilePath, mount["store"]);
        mount.MakeReadOnly();

        VerifyReport report = StoreMaintenance.Verify(mount["store"]);

        AssertSound(report);
        Assert.Equal(1, report.Entries);
    }

    [Fact]
    public void Progress_reaches_the_end()
    {
        new RandomWork(Store, Clock, 6).Do(10_000);
        var told = new List<StoreProgress>();

        StoreMaintenance.Verify(FilePath, progress: new ListProgress(told));

        Assert.True(told.Count > 2);
        Assert.Equal(told.OrderBy(progress => progress.Done), told);
        Assert.All(told, progress => Assert.InRange(progress.Done, 0, progress.Total));
    }

    [Fact]
    public void Verification_can_be_cancelled()
    {
        new RandomWork(Store, Clock, 6).Do(10_000);
        using var cancellation = new CancellationTokenSource();

        Assert.Throws<OperationCanceledException>(
            () => StoreMaintenance.Verify(FilePath, null, new ActionProgress(_ => cancellation.Cancel()), cancellation.Token));
    }

    [Fact]
    public void Missing_file_is_a_mistake_of_the_caller_and_not_damage()
    {
        Assert.Throws<FileNotFoundException>(() => StoreMaintenance.Verify(PathOf("missing")));
        Assert.Throws<StoreException>(() => StoreMaintenance.Verify(DirectoryPath));
        Assert.Throws<ArgumentOutOfRangeException>(() => StoreMaintenance.Verify(FilePath, new VerifyOptions { MaxFindings = -1 }));
    }

    private static void AssertSound(VerifyReport report) =>
        Assert.True(report.IsSound, string.Join('\n', report.Findings.Select(finding => finding.ToString())));

    private VerifyReport Verify() => StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });
}
