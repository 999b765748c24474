namespace Cairn.FileStore.Tests.Engine;

/// <summary>Caches that share only the file, as on a volume of several machines.</summary>
public sealed class PollingTests : IDisposable
{
    private readonly CacheFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Changes_of_others_are_found_by_looking()
    {
        DistributedFileStoreCacheString cache = Open();
        DistributedFileStoreCacheString other = Open();

        for (int i = 0; i < 5; i++)
        {
            string value = $"{i}";
            cache.Set("a", value);
            Eventually.Equal(value, () => other.Get("a"));
            other.Set("b", value);
            Eventually.Equal(value, () => cache.Get("b"));
        }

        cache.Remove("a");
        Eventually.Equal(null, () => other.Get("a"));
        other.ClearAll();
        Eventually.Equal(0, () => cache.GetAllKeyValues().Count);
    }

    [Fact]
    public void Changes_that_were_not_yet_found_are_kept_by_the_next_change()
    {
        DistributedFileStoreCacheString cache = Open(TimeSpan.FromHours(1));
        DistributedFileStoreCacheString other = Open(TimeSpan.FromHours(1));
        cache.Set("a", "1");
        other.Set("b", "2");
        cache.Set("c", "3");
        other.Set("a", "4");

        DistributedFileStoreCacheString fresh = Open();

        Assert.Equal("4", fresh.Get("a"));
        Assert.Equal("2", fresh.Get("b"));
        Assert.Equal("3", fresh.Get("c"));
    }

    [Fact]
    public void Hand_edit_is_found_and_a_broken_one_is_not_overwritten()
    {
        DistributedFileStoreCacheString cache = Open();
        cache.Set("a", "1");

        _file.Replace(_file.Text.Replace("\"1\"", "\"2\"", StringComparison.Ordinal));
        Eventually.Equal("2", () => cache.Get("a"));

        _file.Replace("broken");
        Assert.Throws<FileStoreFormatException>(() => cache.Set("b", "1"));
        Assert.Equal("2", cache.Get("a"));
    }

    private DistributedFileStoreCacheString Open(TimeSpan? interval = null) => _file.Open(options =>
    {
        options.UsePolling = true;
        options.ChangePollInterval = interval ?? TimeSpan.FromMilliseconds(5);
    });
}
