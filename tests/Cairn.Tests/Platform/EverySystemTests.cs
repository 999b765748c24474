using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>Behaviour on every system. These tests also run on Windows (with Wine).</summary>
public sealed class EverySystemTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Target => _directory["store.cairn"];

    public void Dispose()
    {
        // A closed store stays mapped until it is collected, and some systems do not delete a mapped file.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        _directory.Dispose();
    }

    [Fact]
    public void Leftovers_of_a_killed_creator_are_gone_with_the_next_creation()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-unnamed-file", _directory.Path, "store.cairn");
        Assert.Equal("created", child.ReadLine());
        child.Kill();

        HostPlatform.Current.CreateUnnamed(_directory.Path, "store.cairn").Dispose();

        Assert.Empty(_directory.FileNames);
    }

    [Fact]
    public void File_has_its_name_when_it_is_published_and_no_other()
    {
        using (StoreFile file = Create("content"))
        {
            Assert.False(File.Exists(Target));

            Assert.True(file.TryPublish(Target, replace: false));

            Assert.Equal(["store.cairn"], _directory.FileNames);
            Assert.True(file.IsStillAt(Target));
        }

        Assert.Equal("content", File.ReadAllText(Target));
    }

    [Fact]
    public void Name_that_is_taken_is_left_alone_or_taken_over()
    {
        File.WriteAllText(Target, "first");
        using (StoreFile file = Create("second"))
        {
            Assert.False(file.TryPublish(Target, replace: false));
            Assert.Equal("first", File.ReadAllText(Target));

            Assert.True(file.TryPublish(Target, replace: true));
        }

        Assert.Equal("second", File.ReadAllText(Target));
        Assert.Equal(["store.cairn"], _directory.FileNames);
    }

    [Fact]
    public void One_of_many_publishers_wins()
    {
        int winners = 0;

        Parallel.For(0, 16, number =>
        {
            using StoreFile file = Create($"{number}");
            if (file.TryPublish(Target, replace: false))
            {
                Interlocked.Increment(ref winners);
            }
        });

        Assert.Equal(1, winners);
        Assert.Equal(["store.cairn"], _directory.FileNames);
    }

    [Fact]
    public unsafe void Change_of_a_word_ends_the_wait_of_another_process()
    {
        File.WriteAllBytes(_directory["words"], new byte[4096]);
        using StoreFile file = HostPlatform.Current.Open(_directory["words"]);
        MappedRegion region = file.Map(4096, writable: true);
        using ChildProcess child = ChildProcess.Start(typeof(Program), "wait-on-word", _directory["words"]);
        Assert.Equal("waiting", child.ReadLine());

        Volatile.Write(ref *(uint*)region.Address, 1);
        HostPlatform.Current.WakeByAddress((uint*)region.Address, all: true);

        Assert.Equal("True", child.ReadLine());
    }

    [Fact]
    public void Locks_of_a_killed_process_pass_to_another_and_its_entries_stay()
    {
        var options = new StoreOptions { Path = Target, CapacityBytes = 4 << 20 };
        using CairnStore store = CairnStore.Open(options);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("42", "Dune"u8);
        using ChildProcess child = ChildProcess.Start(typeof(Program), "hold-partitions", Target);
        Assert.Equal("holding", child.ReadLine());

        child.Kill();

        Assert.True(cache.Set("43", "Emma"u8));
        Assert.Equal("Dune", cache.GetString("42"));
        Assert.Equal("Emma", cache.GetString("43"));
    }

    [Fact]
    public void Store_grows_under_two_openings_and_is_read_by_the_next()
    {
        var options = new StoreOptions { Path = Target, CapacityBytes = 2 << 20, MaxCapacityBytes = 8 << 20 };
        using (CairnStore first = CairnStore.Open(options))
        using (CairnStore second = CairnStore.Open(options))
        {
            for (int i = 0; i < 1000; i++)
            {
                Assert.True((i % 2 == 0 ? first : second).DefaultCollection.Set($"{i}", TestBytes.Of(4000, i)));
            }

            Assert.All(Enumerable.Range(0, 1000), i => Assert.Equal(TestBytes.Of(4000, i), (i % 2 == 0 ? second : first).DefaultCollection.Get($"{i}")));
            Assert.Equal(0, first.GetStatistics().Totals.Evictions);
        }

        using CairnStore next = CairnStore.Open(options);

        Assert.Empty(next.Warnings);
        Assert.All(Enumerable.Range(0, 1000), i => Assert.Equal(TestBytes.Of(4000, i), next.DefaultCollection.Get($"{i}")));
    }

    private StoreFile Create(string content)
    {
        StoreFile file = HostPlatform.Current.CreateUnnamed(_directory.Path, "store.cairn");
        file.Write(0, System.Text.Encoding.UTF8.GetBytes(content));
        return file;
    }
}
