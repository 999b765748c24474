using System.Buffers;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Client;

/// <summary>What a call allocates. A call continues on several threads, so the allocations of the whole process are counted, without other tests.</summary>
[Collection(Name)]
public sealed class AllocationTests
{
    public const string Name = "Alone in the process";

    [RequiresToolFact("redis-server")]
    public async Task Calls_allocate_nothing()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.SetAsync("key", new byte[100]);
        var buffer = new ArrayBufferWriter<byte>(256);
        await GetAsync(2_000);

        long before = GC.GetTotalAllocatedBytes(precise: true);
        await GetAsync(20_000);
        long perCall = (GC.GetTotalAllocatedBytes(precise: true) - before) / 20_000;

        Assert.InRange(perCall, 0, 20);

        async Task GetAsync(int calls)
        {
            for (int i = 0; i < calls; i++)
            {
                buffer.ResetWrittenCount();
                await client.GetAsync("key", buffer).ConfigureAwait(false);
            }
        }
    }
}

[CollectionDefinition(AllocationTests.Name, DisableParallelization = true)]
public sealed class AllocationTestsRun;
