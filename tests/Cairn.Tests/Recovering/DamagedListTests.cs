using Cairn.Eviction;
using Cairn.Storage;

namespace Cairn.Tests.Recovering;

/// <summary>
/// Damage to numbers that state the locations and the order of segments. The store notices it at the next opening. An open store notices it when it
/// seems to have no room for a new value. In both cases the store finds every segment again.
/// </summary>
public sealed unsafe class DamagedListTests : StoreTest
{
    private static readonly Dictionary<string, Damage> NoticedWhileOpen = new(StringComparer.Ordinal)
    {
        ["seal sequence"] = (_, partition) => partition->SealSequence = 1,
        ["seal orders of the oldest"] = (memory, partition) => EachQueue(memory, partition, header => header->SealOrder = ulong.MaxValue / 2),
        ["queues"] = (_, partition) =>
        {
            partition->SmallHead = 0;
            partition->MainHead = 0;
        },
        ["queues, elsewhere"] = (_, partition) =>
        {
            partition->SmallHead = int.MaxValue;
            partition->MainHead = -1;
        },
        ["spares that are not there"] = (_, partition) =>
        {
            partition->SpareHead = 0;
            partition->SpareCount = 100;
        },
        ["states of the oldest"] = (memory, partition) => EachQueue(memory, partition, header => header->StateWord |= 0xFF),
    };

    private static readonly Dictionary<string, Damage> NoticedWhenOpened = new(NoticedWhileOpen, StringComparer.Ordinal)
    {
        ["length of a run"] = (memory, partition) => EachQueue(memory, partition, header => header->RunLength += 2),
        ["live bytes"] = (memory, partition) => EachQueue(memory, partition, header => header->LiveBytes = 0),
        ["tail of an open segment, too low"] = (_, partition) => partition->ActiveTail[PartitionBlock.LogSmall] = 0,
        ["tail of an open segment, between entries"] = (_, partition) => partition->ActiveTail[PartitionBlock.LogSmall] -= 4,
        ["partition of a segment"] = (memory, partition) => EachQueue(memory, partition, header => header->StateWord ^= 1 << 16),
    };

    private delegate void Damage(StoreMemory memory, PartitionBlock* partition);

    private delegate void HeaderDamage(SegmentHeader* header);

    public static TheoryData<string> WhileOpen => [.. NoticedWhileOpen.Keys];

    public static TheoryData<string> WhenOpened => [.. NoticedWhenOpened.Keys];

    private StoreOptions Tiny => Options with { CapacityBytes = StoreLimits.MinCapacityBytes };

    [Theory]
    [MemberData(nameof(WhenOpened))]
    public void Store_that_was_damaged_is_whole_when_it_is_opened(string damage)
    {
        CairnStore store = Open(Tiny);
        Fill(store);
        DamageEachPartition(store, NoticedWhenOpened[damage]);
        store.Dispose();

        store = Open(Tiny);

        Assert.All(store.GetStatistics().Partitions, partition => Assert.Equal(1, partition.Recoveries));
        StoreAudit.Check(store);
        Fill(store);
        StoreAudit.Check(store);
    }

    [Theory]
    [MemberData(nameof(WhileOpen))]
    public void Store_that_is_damaged_while_it_is_open_takes_new_values_all_the_same(string damage)
    {
        CairnStore store = Open(Tiny);
        Fill(store);

        DamageEachPartition(store, NoticedWhileOpen[damage]);

        Fill(store);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Count_of_free_segments_that_is_too_high_is_right_after_the_first_search_that_finds_none()
    {
        CairnStore store = Open(Tiny);
        Fill(store);
        Assert.Equal(0, store.GetStatistics().FreeSegments);
        store.Engine.Memory.Super->FreeWord += int.MaxValue;

        Fill(store);

        Assert.Equal(0, store.GetStatistics().FreeSegments);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Want_of_room_is_no_damage()
    {
        CairnStore store = Open(Tiny);
        var pins = new List<PinnedValue>();
        bool isRefused = false;
        for (int i = 0; !isRefused; i++)
        {
            // Each value takes most of a segment, and the store has fewer segments than three openings have pins.
            isRefused = !store.DefaultCollection.Set($"{i}", TestBytes.Of(3_500));
            CairnStore holder = i % 60 == 0 ? Open(Tiny) : OpenedLast;
            OpenedLast = holder;
            if (holder.DefaultCollection.TryPin($"{i}", out PinnedValue? pinned))
            {
                pins.Add(pinned);
            }
        }

        Assert.Equal(0, store.GetStatistics().Totals.Recoveries);
        pins.ForEach(pinned => pinned.Dispose());
    }

    private CairnStore OpenedLast { get; set; } = null!;

    private static void Fill(CairnStore store)
    {
        for (int i = 0; i < 2_000; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of(1_000, seed: i)));
            Assert.True(store.DefaultCollection.Get($"{i / 2}") is not { } value || value.AsSpan().SequenceEqual(TestBytes.Of(1_000, seed: i / 2)));
        }
    }

    private static void DamageEachPartition(CairnStore store, Damage damage)
    {
        StoreMemory memory = store.Engine.Memory;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            damage(memory, memory.Partition(number));
        }

        GC.KeepAlive(store);
    }

    private static void EachQueue(StoreMemory memory, PartitionBlock* partition, HeaderDamage damage)
    {
        foreach (int link in new[] { partition->SmallHead, partition->MainHead })
        {
            if (link != 0)
            {
                Assert.Equal(SegmentState.Sealed, memory.Header(link - 1)->State);
                damage(memory.Header(link - 1));
            }
        }
    }
}
