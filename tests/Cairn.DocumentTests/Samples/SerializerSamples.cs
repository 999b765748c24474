using System.Buffers;
using Cairn.Caching.Protobuf;
using Cairn.DocumentTests.Samples.Serializers;
using MemoryPack;
using MessagePack;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using ProtoBuf.Meta;

namespace Cairn.DocumentTests.Samples
{
    /// <summary>Serializers of other libraries, as the guide shows them.</summary>
    public sealed class SerializerSamples : SampleTest
    {
        private readonly WebApplicationBuilder builder = WebApplication.CreateBuilder();

        [Fact]
        public async Task Value_is_read_from_the_second_level_as_MemoryPack_wrote_it()
        {
            builder.Services.AddCairnHybridCache()
                .AddSerializer(new MemoryPackFormat<Track>());

            await WritesThroughAsync(new Track { Id = 42, Title = "Dune" }, static track => track.Title);
        }

        [Fact]
        public async Task Value_is_read_from_the_second_level_as_MessagePack_wrote_it()
        {
            builder.Services.AddCairnHybridCache()
                .AddSerializer(new MessagePackFormat<Disc>());

            await WritesThroughAsync(new Disc { Id = 42, Title = "Dune" }, static disc => disc.Title);
        }

        [Fact]
        public async Task Value_is_read_from_the_second_level_by_a_model_of_the_application()
        {
            RuntimeTypeModel model = CairnProtobufSerializerFactory.CreateModel();
            model.Add(typeof(Coordinates), applyDefaultBehaviour: false).Add(1, "X").Add(2, "Y");
            builder.Services.AddCairnHybridCache().AddSerializerFactory(new CairnProtobufSerializerFactory(model));

            await WritesThroughAsync(new Place { At = new Coordinates { X = 1, Y = 2 } }, static place => place.At!.Y);
            Assert.Contains("message Coordinates", model.GetSchema(typeof(Place)), StringComparison.Ordinal);
        }

        [Theory]
        [InlineData(new byte[] { 0xFF, 0xFF, 0xFF, 0x7F, 1, 2, 3, 4 })]
        [InlineData(new byte[] { 0xDD, 0x7F, 0xFF, 0xFF, 0xFF })]
        [InlineData(new byte[] { })]
        public void Both_refuse_announced_lengths_that_are_not_there_without_allocating_them(byte[] bytes)
        {
            var source = new ReadOnlySequence<byte>(bytes);
            long before = GC.GetAllocatedBytesForCurrentThread();

            Assert.ThrowsAny<Exception>(() => new MemoryPackFormat<List<Track>>().Deserialize(source).Count);
            Assert.ThrowsAny<Exception>(() => new MessagePackFormat<List<Disc>>().Deserialize(source).Count);

            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4_000_000);
        }

        private async Task WritesThroughAsync<T>(T value, Func<T, object?> part)
        {
            builder.Services.AddDistributedMemoryCache();
            await using var application = builder.Build();
            HybridCache cache = application.Services.GetRequiredService<HybridCache>();
            var sharedOnly = new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCache };

            await cache.SetAsync("key", value, sharedOnly);
            T read = await cache.GetOrCreateAsync("key", static _ => ValueTask.FromException<T>(new InvalidOperationException("The value is there.")), sharedOnly);

            Assert.False(ReferenceEquals(value, read));
            Assert.Equal(part(value), part(read));
        }
    }
}

namespace Cairn.DocumentTests.Samples.Serializers
{
    public sealed class MemoryPackFormat<T> : IHybridCacheSerializer<T>
    {
        public void Serialize(T value, IBufferWriter<byte> target) => MemoryPackSerializer.Serialize(target, value);

        public T Deserialize(ReadOnlySequence<byte> source) => MemoryPackSerializer.Deserialize<T>(source)!;
    }

    public sealed class MessagePackFormat<T> : IHybridCacheSerializer<T>
    {
        private static readonly MessagePackSerializerOptions Options =
            MessagePackSerializerOptions.Standard.WithSecurity(MessagePackSecurity.UntrustedData);

        public void Serialize(T value, IBufferWriter<byte> target) => MessagePackSerializer.Serialize(target, value, Options);

        public T Deserialize(ReadOnlySequence<byte> source) => MessagePackSerializer.Deserialize<T>(source, Options);
    }

    [MemoryPackable]
    public sealed partial class Track
    {
        public int Id { get; set; }

        public string? Title { get; set; }
    }

    [MessagePackObject]
    public sealed class Disc
    {
        [Key(0)]
        public int Id { get; set; }

        [Key(1)]
        public string? Title { get; set; }
    }

    [ProtoBuf.ProtoContract]
    public sealed class Place
    {
        [ProtoBuf.ProtoMember(1)]
        public Coordinates? At { get; set; }
    }

    public sealed class Coordinates
    {
        public int X { get; set; }

        public int Y { get; set; }
    }
}
