using Cairn.Platform;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>A disk that fails to keep what was written. A change that is not durable is not acknowledged as durable.</summary>
public sealed class FailedFlushTests : IDisposable
{
    private readonly CacheFile _file = new();
    private readonly FailingPlatform _disk = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Change_that_could_not_be_flushed_fails_and_is_undone()
    {
        DistributedFileStoreCacheString cache = OpenDurable();

        IOException failure = FailFile(() => cache.Set("a", "2"));

        Assert.Contains("nothing is changed", failure.Message, StringComparison.Ordinal);
        Assert.Contains("Check the disk", failure.Message, StringComparison.Ordinal);
        Assert.Equal("1", cache.Get("a"));
        Assert.Equal("1", _file.Open().Get("a"));
    }

    [Fact]
    public void Change_after_a_failed_flush_is_written_to_a_new_file()
    {
        DistributedFileStoreCacheString cache = OpenDurable();
        FileIdentity before = Identity();
        FailFile(() => cache.Set("b", "2"));

        Set(cache, "c", "3");
        FileIdentity after = Identity();
        Set(cache, "d", "4");

        Assert.NotEqual(before, after);
        Assert.Equal(after, Identity());
        Assert.Equal(["1", null, "3", "4"], Names.Select(_file.Open().Get));
    }

    [Theory]
    [InlineData(FileStoreDurability.ProcessCrash)]
    [InlineData(FileStoreDurability.PowerLoss)]
    public void New_file_that_could_not_be_flushed_does_not_replace_the_old_one(FileStoreDurability durability)
    {
        DistributedFileStoreCacheString cache = OpenDurable(durability);

        IOException failure = FailFile(() => cache.ClearAll());

        Assert.Contains("nothing is changed", failure.Message, StringComparison.Ordinal);
        Assert.Equal("1", cache.Get("a"));
        Assert.DoesNotContain(_file.FileNames, name => name.EndsWith(".rewriting", StringComparison.Ordinal));
    }

    [Fact]
    public void Name_of_a_new_file_that_could_not_be_flushed_is_an_error_that_says_that_the_change_is_made()
    {
        DistributedFileStoreCacheString cache = OpenDurable();

        _disk.FailsNames = true;
        IOException failure = Assert.ThrowsAny<IOException>(() => _disk.On(() => Clear(cache)));
        _disk.FailsNames = false;

        Assert.Contains("is changed", failure.Message, StringComparison.Ordinal);
        Assert.Null(cache.Get("a"));
        FileIdentity before = Identity();
        Set(cache, "b", "2");
        Assert.NotEqual(before, Identity()); // The new file's name was flushed, too.
        Assert.Equal("2", _file.Open().Get("b"));
    }

    private static readonly string[] Names = ["a", "b", "c", "d"];

    private DistributedFileStoreCacheString OpenDurable(FileStoreDurability durability = FileStoreDurability.PowerLoss)
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.Durability = durability);
        cache.Set("a", "1");
        return cache;
    }

    private IOException FailFile(Action change)
    {
        _disk.FailsFiles = true;
        try
        {
            return Assert.ThrowsAny<IOException>(() => _disk.On(() =>
            {
                change();
                return 0;
            }));
        }
        finally
        {
            _disk.FailsFiles = false;
        }
    }

    private void Set(DistributedFileStoreCacheString cache, string key, string value) => _disk.On(() =>
    {
        cache.Set(key, value);
        return 0;
    });

    private static int Clear(DistributedFileStoreCacheString cache)
    {
        cache.ClearAll();
        return 0;
    }

    private FileIdentity Identity()
    {
        using StoreFile file = HostPlatform.Current.OpenReadOnly(_file.FilePath);
        return file.Identity;
    }

    private sealed class FailingPlatform : ProxyPlatform
    {
        public bool FailsFiles { get; set; }

        public bool FailsNames { get; set; }

        public override void FlushFile(SafeFileHandle file, string what)
        {
            if (FailsFiles)
            {
                throw FileFailures.NotFlushed(what, "the test says so");
            }

            base.FlushFile(file, what);
        }

        public override void FlushDirectory(string directory)
        {
            if (FailsNames)
            {
                throw FileFailures.NotFlushed($"the directory '{directory}'", "the test says so");
            }

            base.FlushDirectory(directory);
        }
    }
}
