using Cairn.Platform;
using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Opening;

/// <summary>A new file whose creation or first opening fails. A new store leaves nothing. Work that was completed stays, and the message says so.</summary>
public sealed class FailedCreationTests : StoreTest
{
    [Fact]
    public void New_store_whose_opening_fails_at_any_step_leaves_no_file_and_can_be_created_again()
    {
        var disk = new FailingSteps();
        int failures = 0;
        while (true)
        {
            disk.StepsUntilFailure = failures + 1;
            try
            {
                using CairnStore opened = disk.On(() => CairnStore.Open(Options));
                disk.StepsUntilFailure = 0;
                break;
            }
            catch (StoreException failure)
            {
                failures++;
                Assert.True(Directory.GetFileSystemEntries(DirectoryPath).Length == 0, $"The store stayed after step {failures}:\n{failure}");
            }
        }

        Assert.InRange(failures, 15, 1000);
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }

    [Fact]
    public void Store_that_existed_stays_at_every_step_at_which_its_opening_fails()
    {
        Cache.Set("book:42", "Dune"u8);
        Store.Dispose();
        var disk = new FailingSteps();
        for (int step = 1; ; step++)
        {
            disk.StepsUntilFailure = step;
            try
            {
                using CairnStore opened = disk.On(() => CairnStore.Open(Options));
                disk.StepsUntilFailure = 0;
                Assert.NotNull(opened.DefaultCollection.Get("book:42"));
                break;
            }
            catch (StoreException)
            {
                Assert.True(File.Exists(FilePath));
            }
        }
    }

    [Fact]
    public void New_store_that_gets_no_thread_for_its_timers_leaves_no_file()
    {
        BackgroundThread.AreTimersRefused = true;

        Assert.Throws<StoreException>(() => CairnStore.Open(Options));

        BackgroundThread.AreTimersRefused = false;
        Assert.Empty(Directory.GetFileSystemEntries(DirectoryPath));
    }

    [Fact]
    public void Store_whose_name_the_disk_does_not_keep_was_not_created_and_the_message_says_so()
    {
        var platform = new FaultyPlatform { OnFlushDirectory = () => throw FaultyPlatform.Failed("The flush") };

        var failure = Assert.Throws<StoreException>(() => platform.OpenStore(Options with { OpenMode = StoreOpenMode.CreateNew }));

        Assert.Equal($"The store '{FilePath}' was not created. The flush failed, because the test says so.", failure.Message);
        Assert.Empty(Directory.GetFileSystemEntries(DirectoryPath));
        Open(Options with { OpenMode = StoreOpenMode.CreateNew });
    }

    [Fact]
    public void Store_that_another_opening_uses_by_then_stays()
    {
        CairnStore? other = null;
        var platform = new FaultyPlatform();
        platform.OnFlushDirectory = () =>
        {
            HostPlatform.Override = null;
            other ??= Open(Options);
            throw FaultyPlatform.Failed("The flush");
        };

        var failure = Assert.Throws<StoreException>(() => platform.OpenStore(Options));

        Assert.Equal(
            $"The new, empty store '{FilePath}' is complete and has its name. The flush failed, because the test says so. " +
            "Use the file, or delete it before you try again.",
            failure.Message);
        Assert.True(other!.DefaultCollection.Set("book:42", "Dune"u8));
        Assert.True(File.Exists(FilePath));
    }

    [Fact]
    public void Store_that_was_deleted_before_it_was_opened_is_created_again_and_a_failure_of_that_is_reported()
    {
        int creations = 0;
        var platform = new FaultyPlatform
        {
            OnFlushDirectory = () => File.Delete(FilePath),
            OnCreate = () => _ = ++creations == 2 ? throw FaultyPlatform.Failed("The second creation") : 0,
        };

        var failure = Assert.Throws<StoreException>(() => platform.OpenStore(Options));

        Assert.StartsWith("The second creation failed", failure.Message, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(DirectoryPath));
    }

    [Fact]
    public void Restored_store_whose_name_the_disk_does_not_keep_stays_and_the_message_says_so()
    {
        Cache.Set("book:42", "Dune"u8);
        Store.Backup(PathOf("backup"));
        StoreOptions target = Options with { Path = PathOf("restored") };

        var failure = Assert.Throws<StoreException>(() => WithoutDirectoryFlush(() => StoreMaintenance.Restore(PathOf("backup"), target)));
        var second = Assert.Throws<StoreException>(() => StoreMaintenance.Restore(PathOf("backup"), target));

        Assert.Equal(
            $"The restored store '{target.Path}' is complete and has its name. The flush failed, because the test says so. " +
            "Use the file, or delete it before you try again.",
            failure.Message);
        Assert.StartsWith($"There is a file '{target.Path}' already.", second.Message, StringComparison.Ordinal);
        Assert.NotNull(Open(target).DefaultCollection.Get("book:42"));
    }

    [Fact]
    public void Backup_and_compacted_store_whose_names_the_disk_does_not_keep_stay_and_the_messages_say_so()
    {
        var platform = new FaultyPlatform();
        CairnStore store = platform.OpenStore(Options);
        store.DefaultCollection.Set("book:42", "Dune"u8);
        platform.OnFlushDirectory = () => throw FaultyPlatform.Failed("The flush");
        var backup = Assert.Throws<StoreException>(() => store.Backup(PathOf("backup")));
        store.Dispose();
        var compacted = Assert.Throws<StoreException>(() => WithoutDirectoryFlush(() => StoreMaintenance.Compact(FilePath)));

        Assert.StartsWith($"The backup '{PathOf("backup")}' is complete and has its name. The flush failed", backup.Message, StringComparison.Ordinal);
        Assert.StartsWith($"The new file of the store '{FilePath}' is complete and has its name.", compacted.Message, StringComparison.Ordinal);
        StoreOptions restored = Options with { Path = PathOf("restored") };
        StoreMaintenance.Restore(PathOf("backup"), restored);
        Assert.NotNull(Open(restored).DefaultCollection.Get("book:42"));
        Assert.NotNull(OpenAgain().DefaultCollection.Get("book:42"));
    }

    private static T WithoutDirectoryFlush<T>(Func<T> work) =>
        new FaultyPlatform { OnFlushDirectory = () => throw FaultyPlatform.Failed("The flush") }.On(work);

    /// <summary>The system's platform, on which one step of the store fails.</summary>
    private sealed class FailingSteps : ProxyPlatform
    {
        public int StepsUntilFailure { get; set; }

        public override StoreFile Open(string path)
        {
            Step();
            return new StepFile(this, Real.Open(path));
        }

        public override StoreFile CreateUnnamed(string directory, string nameHint)
        {
            Step();
            return new StepFile(this, Real.CreateUnnamed(directory, nameHint));
        }

        public override IReadOnlyList<string> ListNames(string directory, string prefix)
        {
            Step();
            return Real.ListNames(directory, prefix);
        }

        public override void FlushDirectory(string directory)
        {
            Step();
            Real.FlushDirectory(directory);
        }

        private void Step()
        {
            if (--StepsUntilFailure == 0)
            {
                throw new StoreException("The step failed, because the test says so.");
            }
        }

        private sealed class StepFile(FailingSteps steps, StoreFile real) : ProxyFile(real)
        {
            public override long Length
            {
                get
                {
                    steps.Step();
                    return base.Length;
                }
            }

            public override bool TryPublish(string path, bool replace)
            {
                steps.Step();
                return base.TryPublish(path, replace);
            }

            public override void Preallocate(long offset, long length)
            {
                steps.Step();
                base.Preallocate(offset, length);
            }

            public override MappedRegion Map(long length, bool writable)
            {
                steps.Step();
                return new StepRegion(steps, base.Map(length, writable));
            }

            public override bool LockByte(long offset, TimeSpan timeout)
            {
                steps.Step();
                return base.LockByte(offset, timeout);
            }

            public override bool TryLockByte(long offset)
            {
                steps.Step();
                return base.TryLockByte(offset);
            }

            public override bool IsByteLockedByOther(long offset, long length)
            {
                steps.Step();
                return base.IsByteLockedByOther(offset, length);
            }

            public override int Read(long offset, Span<byte> buffer)
            {
                steps.Step();
                return base.Read(offset, buffer);
            }

            public override void FlushData()
            {
                steps.Step();
                base.FlushData();
            }
        }

        private sealed class StepRegion(FailingSteps steps, MappedRegion real) : ProxyRegion(real)
        {
            public override void Flush(long offset, long length)
            {
                steps.Step();
                base.Flush(offset, length);
            }
        }
    }
}
