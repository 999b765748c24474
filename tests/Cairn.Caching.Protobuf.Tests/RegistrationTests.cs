using Cairn.Caching.Protobuf.Tests.Wire;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Protobuf.Tests;

/// <summary>Protocol buffers in a hybrid cache over a second level.</summary>
public sealed class RegistrationTests : IDisposable
{
    private readonly ServiceProvider _services;

    public RegistrationTests()
    {
        var services = new ServiceCollection();
        services.AddDistributedMemoryCache();
        services.AddKeyedCairnHybridCache("json", o => o.Name = "books");
        services.AddKeyedCairnHybridCache("protobuf", o => o.Name = "books").AddProtobuf();
        _services = services.BuildServiceProvider();
    }

    public void Dispose() => _services.Dispose();

    [Fact]
    public async Task Value_goes_through_the_second_level_as_protocol_buffers()
    {
        using ServiceProvider writing = Node(o => o.AddProtobuf());
        var value = new CatalogueRecord("a", "b", "c", Guid.NewGuid());

        await writing.GetRequiredService<HybridCache>().SetAsync("key", value);
        using ServiceProvider reading = Node(o => o.AddProtobuf(), writing.GetRequiredService<IDistributedCache>());
        CatalogueRecord read = await reading.GetRequiredService<HybridCache>().GetOrCreateAsync(
            "key", static _ => ValueTask.FromException<CatalogueRecord>(new InvalidOperationException("The value is there.")));

        Assert.Equal(value, read);
    }

    [Fact]
    public async Task Entry_that_was_written_as_JSON_is_read_where_the_type_says_so()
    {
        using ServiceProvider writing = Node(static _ => { });
        await writing.GetRequiredService<HybridCache>().SetAsync("key", new Moving { Name = "old" });

        using ServiceProvider reading = Node(o => o.AddProtobuf(), writing.GetRequiredService<IDistributedCache>());
        Moving read = await reading.GetRequiredService<HybridCache>().GetOrCreateAsync(
            "key", static _ => ValueTask.FromException<Moving>(new InvalidOperationException("The value is there.")));

        Assert.Equal("old", read.Name);
    }

    [Fact]
    public async Task Type_that_cannot_be_written_reaches_its_caller_all_the_same()
    {
        using ServiceProvider node = Node(o => o.AddProtobuf());

        Contracts.OfObjects read = await node.GetRequiredService<HybridCache>().GetOrCreateAsync(
            "key", static _ => ValueTask.FromResult(new Contracts.OfObjects { A = 5 }));

        Assert.Equal(5, read.A);
    }

    private static ServiceProvider Node(Action<ICairnHybridCacheBuilder> configure, IDistributedCache? shared = null)
    {
        var services = new ServiceCollection();
        if (shared is null)
        {
            services.AddDistributedMemoryCache();
        }
        else
        {
            services.AddSingleton(shared);
        }

        configure(services.AddCairnHybridCache());
        return services.BuildServiceProvider();
    }
}

[System.Runtime.Serialization.DataContract]
[CairnSerializer(CairnFormat.Automatic, AlsoReads = [CairnFormat.Json])]
internal sealed class Moving
{
    [System.Runtime.Serialization.DataMember(Order = 1)]
    public string? Name { get; set; }
}
