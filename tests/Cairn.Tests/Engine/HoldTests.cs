using System.Text;
using Cairn.Concurrency;

namespace Cairn.Tests.Engine;

/// <summary>A thread that holds partitions, so that a group of its writes happens at one moment.</summary>
public sealed class HoldTests : IDisposable
{
    private const int Keys = 200;

    private readonly TestDirectory _directory = new();
    private readonly CairnStore _store;
    private readonly CairnStore _other;

    public HoldTests()
    {
        // Large enough for several partitions.
        var options = new StoreOptions { Path = _directory["store"], CapacityBytes = 64 << 20, FlushOnClose = false };
        _store = CairnStore.Open(options);
        _other = CairnStore.Open(options with { LockTimeout = TimeSpan.FromMilliseconds(20) });
    }

    public void Dispose()
    {
        _other.Dispose();
        _store.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Holder_writes_as_ever_and_others_wait()
    {
        PartitionHold hold = All();
        Assert.True(_store.Engine.TryHold(hold));

        for (int i = 0; i < Keys; i++)
        {
            Assert.True(_store.DefaultCollection.Set($"key:{i}", "held"u8));
        }

        Assert.True(_store.DefaultCollection.Remove("key:0"));
        Assert.Equal(WriteStatus.Busy, _other.DefaultCollection.Add("new", "x"u8)); // It retracts nothing, in contrast to a set.
        Assert.Equal("held"u8.ToArray(), _other.DefaultCollection.Get("key:1")); // Readers take no locks.
        _store.Engine.EndHold(hold);

        Assert.Equal(WriteStatus.Stored, _other.DefaultCollection.Add("new", "x"u8));
        Assert.True(_other.DefaultCollection.Set("key:1", "after"u8));
        Assert.False(_store.DefaultCollection.Contains("key:0"));
    }

    [Fact]
    public void Another_thread_of_the_holder_waits_too()
    {
        PartitionHold hold = All();
        Assert.True(_store.Engine.TryHold(hold));
        bool isSet = false;
        var thread = new Thread(() => isSet = _store.DefaultCollection.Set("key", "of the other"u8));
        thread.Start();

        _store.DefaultCollection.Set("key", "of the holder"u8);
        Assert.Equal("of the holder"u8.ToArray(), _store.DefaultCollection.Get("key"));
        _store.Engine.EndHold(hold);
        thread.Join();

        Assert.True(isSet);
        Assert.Equal("of the other"u8.ToArray(), _store.DefaultCollection.Get("key"));
    }

    [Fact]
    public void Hold_that_cannot_have_every_partition_has_none()
    {
        Assert.True(_store.PartitionCount > 1);
        PartitionHold last = Of(_store.PartitionCount - 1);
        Assert.True(_store.Engine.TryHold(last));

        PartitionHold all = All();
        bool isHeld = true;
        RunOnThread(() => isHeld = _other.Engine.TryHold(all));
        Assert.False(isHeld);

        for (int i = 0; i < Keys; i++)
        {
            int partition = _store.DefaultCollection.PartitionOf($"key:{i}");
            Assert.Equal(
                partition == _store.PartitionCount - 1 ? WriteStatus.Busy : WriteStatus.Stored, _other.DefaultCollection.Add($"key:{i}", "x"u8));
        }

        _store.Engine.EndHold(last);
        Assert.True(_other.Engine.TryHold(all));
        _other.Engine.EndHold(all);
    }

    [Fact]
    public void Hold_is_one_to_a_thread_and_ended_by_it()
    {
        PartitionHold hold = All();
        Assert.True(_store.Engine.TryHold(hold));

        Assert.Throws<InvalidOperationException>(() => _store.Engine.TryHold(All()));
        Exception? fault = null;
        RunOnThread(() => fault = Record.Exception(() => _store.Engine.EndHold(hold)));
        Assert.IsType<InvalidOperationException>(fault);
        _store.Engine.EndHold(hold);
        Assert.Throws<InvalidOperationException>(() => _store.Engine.EndHold(hold));
    }

    [Fact]
    public void Hold_of_nothing_keeps_no_other_process_out()
    {
        var hold = new PartitionHold(_store.PartitionCount);
        Assert.True(_store.Engine.TryHold(hold));

        Assert.True(_other.DefaultCollection.Set("key", "x"u8));

        _store.Engine.EndHold(hold);
    }

    [Fact]
    public void Holds_that_overlap_never_wait_for_each_other_in_a_circle()
    {
        int[] kept = new int[2];
        Parallel.For(0, 4, thread =>
        {
            var random = new Random(thread);
            for (int i = 0; i < 500; i++)
            {
                PartitionHold hold = Of([.. Enumerable.Range(0, 4).Select(_ => random.Next(_store.PartitionCount))]);
                hold.Add(0); // All threads compete for this partition.
                Assert.True(_store.Engine.TryHold(hold));
                int before = kept[0]++;
                kept[1]++;
                Assert.Equal(before + 1, kept[1]);
                _store.Engine.EndHold(hold);
            }
        });

        Assert.Equal(2_000, kept[0]);
    }

    [Fact]
    public void Killed_holder_leaves_locks_that_are_taken_over_and_what_it_had_written()
    {
        for (int i = 0; i < Keys; i++)
        {
            _store.DefaultCollection.Set($"key:{i}", "before"u8);
        }

        using (ChildProcess holder = ChildProcess.Start(typeof(Program), "hold-partitions", _directory["store"], "key:1", "key:2"))
        {
            Assert.Equal("holding", holder.ReadLine());
            Assert.Equal(WriteStatus.Busy, _other.DefaultCollection.Add("new", "x"u8));
            holder.Kill();
        }

        Assert.Equal("held"u8.ToArray(), _store.DefaultCollection.Get("key:1"));
        Assert.Equal("held"u8.ToArray(), _store.DefaultCollection.Get("key:2"));
        for (int i = 0; i < Keys; i++)
        {
            Assert.True(_store.DefaultCollection.Set($"key:{i}", Encoding.ASCII.GetBytes($"after {i}")));
        }

        PartitionHold all = All();
        Assert.True(_store.Engine.TryHold(all));
        _store.Engine.EndHold(all);
        Assert.Equal("after 7"u8.ToArray(), _other.DefaultCollection.Get("key:7"));
        Assert.Equal(Keys, _store.GetStatistics().Totals.Entries);
        Assert.True(_store.GetStatistics().Totals.Recoveries >= _store.PartitionCount);
    }

    private static void RunOnThread(Action action)
    {
        var thread = new Thread(() => action());
        thread.Start();
        thread.Join();
    }

    private PartitionHold All() => Of([.. Enumerable.Range(0, _store.PartitionCount)]);

    private PartitionHold Of(params int[] partitions)
    {
        var hold = new PartitionHold(_store.PartitionCount);
        Array.ForEach(partitions, hold.Add);
        return hold;
    }
}
