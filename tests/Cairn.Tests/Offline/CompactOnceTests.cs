using Cairn.Steps;
using Cairn.Tests.Concurrency;

namespace Cairn.Tests.Offline;

/// <summary>Compacting copies each entry once.</summary>
[Collection(ProtocolScripts.Name)]
public sealed class CompactOnceTests : StoreTest
{
    [Fact]
    public void Segment_that_a_long_entry_leaves_half_empty_is_not_cleaned_in_the_new_file()
    {
        for (int i = 0; i < 8_000; i++)
        {
            Cache.Set($"key:{i}", TestBytes.Of(i % 21 == 20 ? 6_000 : 100));
        }

        Store.Dispose();
        using var cleaning = new ProtocolScript(ProtocolStep.VictimChosen, () => { });

        CompactReport report = StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock });

        Assert.Equal(8_000, report.EntriesKept);
        Assert.False(cleaning.HasRun);
    }
}
