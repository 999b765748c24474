namespace Cairn.Tests.Offline;

/// <summary>Verifying a store while others use it finds all damage, and reports no damage that does not exist.</summary>
public sealed class VerifyInUseTests : StoreTest
{
    private const int Verifications = 25;

    [Theory]
    [InlineData(1L << 20)]
    [InlineData(8L << 20)]
    public async Task Work_of_others_is_not_taken_for_damage(long capacityBytes)
    {
        StoreOptions options = Options with { CapacityBytes = capacityBytes };
        using var stop = new CancellationTokenSource();
        RandomWork[] works = [new(Open(options), new ManualClock(), 1), new(Open(options), new ManualClock(), 2)];
        CancellationToken token = stop.Token;
        Task[] workers = [.. works.Select(work => Repeat(work, token))];

        var reports = new List<VerifyReport>();
        for (int i = 0; i < Verifications; i++)
        {
            reports.Add(StoreMaintenance.Verify(FilePath));
        }

        await stop.CancelAsync();
        await Task.WhenAll(workers);

        Assert.All(reports, report => Assert.True(report.IsSound, string.Join('\n', report.Findings.Select(finding => finding.ToString()))));
        Assert.All(reports, report => Assert.True(report.WasInUse));
        Assert.All(reports, report => Assert.Equal(2, report.Openings));
        Assert.True(reports[^1].Entries > 0);
    }

    [Fact]
    public async Task Damage_is_found_in_spite_of_the_work_of_others()
    {
        Cache.Set("victim", TestBytes.Of(200));
        Cache.TryPin("victim", out PinnedValue? pinned);
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            surgeon.Flip(surgeon.EntryOf(surgeon.UsedSlots().Single()) + 40, 2);
        }

        using var stop = new CancellationTokenSource();
        Task worker = Repeat(new RandomWork(Store, new ManualClock(), 3), stop.Token);

        var found = new List<VerifyFinding>();
        for (int i = 0; i < Verifications && found.Count == 0; i++)
        {
            found.AddRange(StoreMaintenance.Verify(FilePath).Findings.Where(finding => finding.Severity == VerifySeverity.Damage));
        }

        await stop.CancelAsync();
        await worker;
        pinned!.Dispose();

        Assert.Equal(VerifyArea.Entries, Assert.Single(found).Area);
    }

    // Performs large writes, evictions, removals and clears as fast as possible.
    private static Task Repeat(RandomWork work, CancellationToken stop) => OwnThread.Run(() =>
    {
        while (!stop.IsCancellationRequested)
        {
            work.Do(100, keys: 100_000);
        }
    });
}
