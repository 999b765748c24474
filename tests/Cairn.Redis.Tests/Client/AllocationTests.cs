using System.Buffers;
using System.Globalization;
using Cairn.Redis.Tests.Servers;

namespace Cairn.Redis.Tests.Client;

/// <summary>What a call allocates. It continues on several threads, so the allocations of a whole process are counted, which makes no other calls.</summary>
public sealed class AllocationTests
{
    private const int Calls = 20_000;

    [RequiresToolFact("redis-server")]
    public async Task Calls_allocate_nothing()
    {
        using var server = RedisServer.Start();
        await using var client = RedisClient.Create(server.Configuration);
        await client.SetAsync("key", new byte[100]);

        using ChildProcess child = ChildProcess.Start(typeof(Program), "count-allocations", server.Configuration);
        long perCall = long.Parse(child.ReadLine(), CultureInfo.InvariantCulture);

        // The rest of the process allocates a little, too.
        Assert.InRange(perCall, 0, 20);
    }

#pragma warning disable VSTHRD002 // The main thread of a program.
    internal static void Count(string[] arguments) => CountAsync(arguments[0]).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private static async Task CountAsync(string configuration)
    {
        await using var client = RedisClient.Create(configuration);
        var buffer = new ArrayBufferWriter<byte>(256);
        await GetAsync(Calls / 10).ConfigureAwait(false);

        long before = GC.GetTotalAllocatedBytes(precise: true);
        await GetAsync(Calls).ConfigureAwait(false);
        long perCall = (GC.GetTotalAllocatedBytes(precise: true) - before) / Calls;

        Console.WriteLine(perCall.ToString(CultureInfo.InvariantCulture));

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
