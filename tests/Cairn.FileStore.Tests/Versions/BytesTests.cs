using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Tests.Versions;

/// <summary>IDistributedFileStoreCacheBytes, which includes IDistributedCache.</summary>
public sealed class BytesTests : IDisposable
{
    private readonly CacheFile _file = new();

    public void Dispose() => _file.Dispose();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(10_000)]
    public void Any_bytes_come_back_as_they_were(int length)
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();
        byte[] bytes = TestBytes.Of(length);

        cache.Set("a", bytes, new DistributedCacheEntryOptions());

        Assert.Equal(bytes, cache.Get("a"));
        Assert.Equal(bytes, _file.OpenBytes().Get("a"));
    }

    [Fact]
    public void Bytes_that_a_caller_holds_are_its_own()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();
        byte[] bytes = [1, 2, 3];
        cache.Set("a", bytes, new DistributedCacheEntryOptions());

        bytes[0] = 9;
        cache.Get("a")![1] = 9;
        cache.GetAllKeyValues()["a"][2] = 9;

        Assert.Equal([1, 2, 3], cache.Get("a"));
    }

    [Fact]
    public void Text_is_read_as_its_UTF_8_and_the_other_way_round()
    {
        DistributedFileStoreCacheBytes bytes = _file.OpenBytes();
        DistributedFileStoreCacheString strings = _file.Open();

        strings.Set("a", "Grüße");
        bytes.Set("b", "Grüße"u8.ToArray(), new DistributedCacheEntryOptions());

        Assert.Equal("Grüße"u8.ToArray(), bytes.Get("a"));
        Assert.Equal("Grüße", strings.Get("b"));
        Assert.Equal(2, bytes.GetAllKeyValues().Count);
    }

    [Fact]
    public void Bytes_that_are_text_are_text_in_the_file()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();

        cache.Set("a", "{\"Name\":\"Grüße\"}\n"u8.ToArray(), new DistributedCacheEntryOptions());
        cache.Set("b", [0, 1, 2], new DistributedCacheEntryOptions());
        cache.Set("c", [0xC3, 0x28], new DistributedCacheEntryOptions());

        Assert.Contains("""["a","{\"Name\":\"Grüße\"}\n"]""", _file.Text, StringComparison.Ordinal);
        Assert.Contains("""{"key":"b","bytes":"AAEC"}""", _file.Text, StringComparison.Ordinal);
        DistributedFileStoreCacheBytes other = _file.OpenBytes();
        Assert.Equal("{\"Name\":\"Grüße\"}\n"u8.ToArray(), other.Get("a"));
        Assert.Equal([0xC3, 0x28], other.Get("c"));
    }

    [Fact]
    public void ClearAll_leaves_nothing()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();
        cache.Set("a", [1], new DistributedCacheEntryOptions());

        cache.ClearAll();

        Assert.Empty(cache.GetAllKeyValues());
        Assert.Empty(_file.OpenBytes().GetAllKeyValues());
    }

    [Fact]
    public void Refresh_and_sliding_expiration_are_refused_unless_they_are_allowed()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();

        Assert.Equal(
            "This library doesn't support sliding expirations for performance reasons.", // The original's text, which tests of its users compare.
            Assert.Throws<NotImplementedException>(() => cache.Refresh("a")).Message);
        Assert.Throws<NotImplementedException>(() => cache.Set("a", [1], new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromSeconds(1) }));
    }

    [Fact]
    public void Refresh_prolongs_a_sliding_entry()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheBytes cache = _file.OpenBytes(options =>
        {
            options.TimeProvider = clock;
            options.AllowSlidingExpiration = true;
        });
        cache.Set("a", [1], new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(1) });

        clock.Advance(TimeSpan.FromSeconds(59));
        cache.Refresh("a");
        clock.Advance(TimeSpan.FromSeconds(59));
        Assert.NotNull(cache.Get("a"));
        clock.Advance(TimeSpan.FromMinutes(1));

        Assert.Null(cache.Get("a"));
        cache.Refresh("a");
        Assert.Null(cache.Get("a"));
    }

    [Fact]
    public async Task Asynchronous_members_do_the_same()
    {
        DistributedFileStoreCacheBytes cache = _file.OpenBytes();

        await cache.SetAsync("a", [1, 255], new DistributedCacheEntryOptions());
        Assert.Equal([1, 255], await cache.GetAsync("a"));
        Assert.Single(await cache.GetAllKeyValuesAsync());
        await cache.RemoveAsync("a");
        Assert.Null(await cache.GetAsync("a"));

        await Assert.ThrowsAsync<NotImplementedException>(() => cache.RefreshAsync("a"));
    }
}
