using System.Numerics;
using System.Runtime.CompilerServices;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

public sealed class StoreCoherenceTests : IDisposable
{
    private const string Key = "book:42";

    private readonly CoherentStore _stage = new();

    private ICoherence Coherence => _stage.Coherence;

    private ulong Hash => _stage.Other.DefaultCollection.HashOf(Key);

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Value_is_found_until_another_process_changes_its_key()
    {
        Assert.True(_stage.Keep(Coherence.Mark(Hash), Hash, 1));
        Assert.Equal(1, _stage.Find(Hash));

        _stage.Other.DefaultCollection.Set("another key", "x"u8);
        Assert.Equal(1, _stage.Find(Hash));

        _stage.Other.DefaultCollection.Set(Key, "x"u8);
        Assert.Null(_stage.Find(Hash));
    }

    [Fact]
    public void Every_change_is_reported_once_whichever_process_made_it()
    {
        _stage.Store.DefaultCollection.Set(Key, "own"u8);
        _stage.Other.DefaultCollection.Remove(Key);
        _stage.Other.DefaultCollection.Remove("never there");
        foreach (string key in (string[])[Key, "never there"])
        {
            Assert.True(Coherence.TryCatchUp(_stage.Store.DefaultCollection.HashOf(key)));
            Assert.True(Coherence.TryCatchUp(_stage.Store.DefaultCollection.HashOf(key)));
        }

        Assert.Equal(2, _stage.Held.Told.Count(told => told == (0, Hash)));
        Assert.Equal(1, _stage.Held.Told.Count(told => told == (0, _stage.Store.DefaultCollection.HashOf("never there"))));
        Assert.Equal(3, _stage.Held.Told.Count);
    }

    [Fact]
    public void Changes_before_the_first_tracked_key_are_not_reported()
    {
        _stage.Other.DefaultCollection.Set(Key, "before"u8);
        _stage.Use(new StoreCoherence(_stage.Store));

        Assert.True(Coherence.TryCatchUp(Hash));

        Assert.Empty(_stage.Held.Told);
    }

    [Fact]
    public void Value_is_not_kept_if_its_key_was_changed_since_the_mark()
    {
        ChangeMark mark = Coherence.Mark(Hash);
        _stage.Other.DefaultCollection.Set(Key, "x"u8);

        Assert.False(Coherence.IsUnchanged(mark, Hash));
        Assert.False(_stage.Keep(mark, Hash, 1));
        Assert.Null(_stage.Find(Hash));
        Assert.True(_stage.Keep(Coherence.Mark(Hash), Hash, 2));
        Assert.Equal(2, _stage.Find(Hash));
    }

    [Fact]
    public void Value_is_kept_if_other_keys_alone_were_changed_since_the_mark()
    {
        ChangeMark mark = Coherence.Mark(Hash);
        for (int i = 0; i < 50; i++)
        {
            _stage.Other.DefaultCollection.Set($"other:{i}", "x"u8);
        }

        Assert.True(Coherence.IsUnchanged(mark, Hash));
        Assert.True(_stage.Keep(mark, Hash, 1));
        Assert.Equal(1, _stage.Find(Hash));
    }

    [Theory]
    [InlineData(1, 0, false)]
    [InlineData(1, 1, true)]
    [InlineData(2, 1, false)]
    [InlineData(2, 2, true)]
    public void Own_changes_since_the_mark_are_allowed_for(int changes, int ownChanges, bool isKept)
    {
        ChangeMark mark = Coherence.Mark(Hash);
        for (int i = 0; i < changes; i++)
        {
            _stage.Store.DefaultCollection.Set("in between", "x"u8);
            _stage.Store.DefaultCollection.Set(Key, "x"u8);
        }

        Assert.Equal(isKept, _stage.Keep(mark, Hash, 1, ownChanges));
        Assert.Equal(isKept ? 1 : null, _stage.Find(Hash));
    }

    [Fact]
    public void Marks_of_all_partitions_cover_every_key()
    {
        string[] keys = [.. Enumerable.Range(0, 100).Select(i => $"key:{i}")];
        ChangeMark[] marks = Coherence.MarkAll();
        Assert.Equal(_stage.Store.PartitionCount, marks.Length);

        for (int i = 0; i < keys.Length; i += 2)
        {
            _stage.Other.DefaultCollection.Remove(keys[i]);
        }

        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal(i % 2 != 0, Coherence.IsUnchanged(marks, _stage.Store.DefaultCollection.HashOf(keys[i])));
        }
    }

    [Fact]
    public void Changes_that_no_ring_can_report_make_all_of_their_partition_forgotten()
    {
        _stage.Keep(Coherence.Mark(Hash), Hash, 1);
        ChangeMark mark = Coherence.Mark(Hash);
        ChangeMark[] marks = Coherence.MarkAll();

        _stage.Other.Collection("another").Clear();

        Assert.False(Coherence.IsUnchanged(mark, Hash));
        Assert.False(Coherence.IsUnchanged(marks, Hash));
        Assert.False(_stage.Keep(mark, Hash, 2, ownChanges: 100));
        Assert.Null(_stage.Find(Hash));
        int shift = 64 - BitOperations.Log2((uint)_stage.Store.PartitionCount);
        Assert.Equal((shift, shift == 64 ? 0 : Hash >> shift), Assert.Single(_stage.Held.Told));
    }

    [Fact]
    public void More_changes_than_the_ring_has_cells_make_all_of_their_partition_forgotten()
    {
        _stage.Keep(Coherence.Mark(Hash), Hash, 1);
        ChangeMark mark = Coherence.Mark(Hash);
        int cells = _stage.Store.Engine.Memory.Layout.RingCells;
        string other = Enumerable.Range(0, 1_000).Select(i => $"other:{i}")
            .First(key => _stage.Store.DefaultCollection.PartitionOf(key) == _stage.Store.DefaultCollection.PartitionOf(Key));

        for (int i = 0; i < cells; i++)
        {
            _stage.Other.DefaultCollection.Set(other, "x"u8);
        }

        Assert.False(Coherence.IsUnchanged(mark, Hash));
        Assert.False(_stage.Keep(mark, Hash, 2, ownChanges: 0));
        Assert.Null(_stage.Find(Hash));
    }

    [Fact]
    public void One_change_less_than_the_ring_has_cells_is_reported_one_by_one()
    {
        _stage.Keep(Coherence.Mark(Hash), Hash, 1);
        int cells = _stage.Store.Engine.Memory.Layout.RingCells;
        string other = Enumerable.Range(0, 1_000).Select(i => $"other:{i}")
            .First(key => _stage.Store.DefaultCollection.PartitionOf(key) == _stage.Store.DefaultCollection.PartitionOf(Key));

        for (int i = 0; i < cells - 1; i++)
        {
            _stage.Other.DefaultCollection.Set(other, "x"u8);
        }

        Assert.Equal(1, _stage.Find(Hash));
        Assert.Equal(cells - 1, _stage.Held.Told.Count(told => told == (0, _stage.Store.DefaultCollection.HashOf(other))));
    }

    [Fact]
    public void Keeping_that_refuses_keeps_nothing_and_says_so()
    {
        Assert.False(Coherence.TryKeep(Coherence.Mark(Hash), Hash, 0, 0, static _ => false));
        Assert.Null(_stage.Find(Hash));
    }

    [Fact]
    public void Change_is_reported_again_if_the_sink_could_not_take_it()
    {
        _stage.Keep(Coherence.Mark(Hash), Hash, 1);
        _stage.Other.DefaultCollection.Set(Key, "x"u8);
        _stage.Held.BeforeForgetting = () => throw new InvalidOperationException();
        Assert.Throws<InvalidOperationException>(() => Coherence.TryCatchUp(Hash));

        _stage.Held.BeforeForgetting = null;

        Assert.Null(_stage.Find(Hash));
    }

    [Fact]
    public void Nothing_is_relied_on_and_nothing_faults_after_the_store_is_closed()
    {
        _stage.Keep(Coherence.Mark(Hash), Hash, 1);
        ChangeMark mark = Coherence.Mark(Hash);
        _stage.Store.Dispose();
        _stage.Other.DefaultCollection.Set("other", "x"u8);

        Assert.False(Coherence.TryCatchUp(Hash));
        Assert.False(Coherence.TryCatchUp(_stage.Other.DefaultCollection.HashOf("other")));
        Assert.False(_stage.Keep(mark, Hash, 1));
        Assert.Equal(mark.Overrun, Coherence.Mark(Hash).Overrun);
        Assert.True(Coherence.IsUnchanged(mark, Hash));
    }

    [Fact]
    public void Mapping_of_a_closed_store_stays_as_long_as_its_coherence()
    {
        StoreCoherence coherence = OfClosedStore();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();

        Assert.False(coherence.TryCatchUp(Hash));
        Assert.True(coherence.IsUnchanged(coherence.Mark(Hash), Hash));
    }

    [Fact]
    public void Catching_up_with_nothing_allocates_nothing()
    {
        ulong hash = Hash;
        _stage.Find(hash);
        long before = GC.GetAllocatedBytesForCurrentThread();

        bool isCaughtUp = true;
        for (int i = 0; i < 1_000; i++)
        {
            isCaughtUp &= Coherence.TryCatchUp(hash);
        }

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.True(isCaughtUp);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private StoreCoherence OfClosedStore()
    {
        using CairnStore store = CairnStore.Open(_stage.Other.Options);
        return new StoreCoherence(store);
    }
}
