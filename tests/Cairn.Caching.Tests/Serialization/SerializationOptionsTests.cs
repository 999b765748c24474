using System.Buffers;
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
    public void Format_that_cannot_be_chosen_is_refused(CairnFormat format)
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

    [Fact]
    public async Task Value_for_both_levels_is_serialized_once()
    {
        var serializer = new CountingSerializer();
        var services = new ServiceCollection();
        services.AddCairnHybridCache(o => o.DistributedCache = new RecordingCache()).AddSerializer(serializer);
        await using ServiceProvider provider = services.BuildServiceProvider();
        HybridCache cache = provider.GetRequiredService<HybridCache>();

        await cache.SetAsync("book:42", new CodecChoiceTests.Base { Id = 42 });
        CodecChoiceTests.Base read = await cache.GetOrCreateAsync("book:42", _ => ValueTask.FromResult(new CodecChoiceTests.Base()));

        Assert.Equal(42, read.Id);
        Assert.Equal(1, serializer.Serialized);
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

    private sealed class CountingSerializer : IHybridCacheSerializer<CodecChoiceTests.Base>
    {
        private int _serialized;

        public int Serialized => Volatile.Read(ref _serialized);

        public CodecChoiceTests.Base Deserialize(ReadOnlySequence<byte> source) => new() { Id = source.FirstSpan[0] };

        public void Serialize(CodecChoiceTests.Base value, IBufferWriter<byte> target)
        {
            Interlocked.Increment(ref _serialized);
            target.Write((ReadOnlySpan<byte>)[(byte)value.Id]);
        }
    }

    // Records the text of everything that is written.
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
