using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The options of the cache reach its serializers.</summary>
public sealed class SerializationOptionsTests
{
    [Theory]
    [InlineData(-1)]
    [InlineData(12)]
    public void Quality_outside_of_brotlis_is_refused(int quality)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Create(o => o.CompressionQuality = quality));
    }

    [Theory]
    [InlineData(CairnFormat.Raw)]
    [InlineData(CairnFormat.Custom)]
    [InlineData(CairnFormat.Automatic)]
    public void Format_that_nobody_can_choose_is_refused(CairnFormat format)
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => Create(o => o.Formats[typeof(CodecChoiceTests.Base)] = format));

        Assert.Contains(format.ToString(), refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Format_of_the_options_is_what_is_written()
    {
        var distributed = new RecordingCache();
        await using ServiceProvider services = Services(o =>
        {
            o.DistributedCache = distributed;
            o.Formats[typeof(CodecChoiceTests.Base)] = CairnFormat.Xml;
        });

        await services.GetRequiredService<HybridCache>().SetAsync("book:42", new CodecChoiceTests.Base { Id = 42 });

        Assert.Contains("<Base", distributed.Text, StringComparison.Ordinal);
    }

    private static void Create(Action<CairnHybridCacheOptions> configure)
    {
        using ServiceProvider services = Services(configure);
        services.GetRequiredService<HybridCache>();
    }

    private static ServiceProvider Services(Action<CairnHybridCacheOptions> configure)
    {
        var services = new ServiceCollection();
        services.AddCairnHybridCache(configure);
        return services.BuildServiceProvider();
    }

    // Remembers the text of everything that was written.
    private sealed class RecordingCache : IDistributedCache
    {
        private readonly MemoryDistributedCache _cache = new(Options.Create(new MemoryDistributedCacheOptions()));
        private readonly Lock _gate = new();
        private string _text = "";

        public string Text
        {
            get
            {
                lock (_gate)
                {
                    return _text;
                }
            }
        }

        public byte[]? Get(string key) => _cache.Get(key);

        public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => _cache.GetAsync(key, token);

        public void Refresh(string key) => _cache.Refresh(key);

        public Task RefreshAsync(string key, CancellationToken token = default) => _cache.RefreshAsync(key, token);

        public void Remove(string key) => _cache.Remove(key);

        public Task RemoveAsync(string key, CancellationToken token = default) => _cache.RemoveAsync(key, token);

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options)
        {
            lock (_gate)
            {
                _text += System.Text.Encoding.Latin1.GetString(value);
            }

            _cache.Set(key, value, options);
        }

        public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
        {
            Set(key, value, options);
            return Task.CompletedTask;
        }
    }
}
