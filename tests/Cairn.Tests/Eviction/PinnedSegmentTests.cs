namespace Cairn.Tests.Eviction;

/// <summary>A pin holds back its own segment (SegmentHeader I3), and nothing else.</summary>
public sealed class PinnedSegmentTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StoreOptions _options;

    public PinnedSegmentTests() =>
        _options = new StoreOptions { Path = _directory["store"], CapacityBytes = StoreLimits.MinCapacityBytes };

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Pinned_segment_without_a_live_entry_does_not_keep_others_from_being_evicted()
    {
        using var store = CairnStore.Open(_options);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("pinned", Filled(3_000, 1));
        Assert.True(cache.TryPin("pinned", out PinnedValue? pinned));
        cache.Remove("pinned");

        bool areAllSet = FillTwice(store);

        Assert.True(areAllSet);
        Assert.Equal(Filled(3_000, 1), pinned.Value.ToArray());
        pinned.Dispose();
    }

    [Fact]
    public void Pinned_segment_whose_entries_have_expired_does_not_keep_others_from_being_evicted()
    {
        var clock = new ManualClock();
        using var store = CairnStore.Open(_options with { TimeProvider = clock });
        store.DefaultCollection.Set("pinned", Filled(3_000, 1), TimeSpan.FromSeconds(1));
        Assert.True(store.DefaultCollection.TryPin("pinned", out PinnedValue? pinned));
        clock.Advance(TimeSpan.FromSeconds(2));

        bool areAllSet = FillTwice(store);

        Assert.True(areAllSet);
        Assert.Equal(Filled(3_000, 1), pinned.Value.ToArray());
        pinned.Dispose();
    }

    private static bool FillTwice(CairnStore store)
    {
        bool areAllSet = true;
        for (int i = 0; i < 2_000; i++)
        {
            areAllSet &= store.DefaultCollection.Set($"filler:{i}", Filled(1_000, 2));
        }

        return areAllSet;
    }

    private static byte[] Filled(int length, byte value)
    {
        byte[] bytes = new byte[length];
        bytes.AsSpan().Fill(value);
        return bytes;
    }
}
