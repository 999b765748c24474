using System.Buffers;
using Cairn.Benchmarks.Measuring;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>Several callers over one connection. Each gets a value again as soon as it has received the previous one.</summary>
internal sealed class PipelinedGets(RedisClient client, string key, int callers, int operations) : IContender
{
    private const int BufferBytes = 256;

    public string Name => "Cairn";

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        // The total of all threads, because the calls allocate on any of them.
        var before = GC.GetTotalAllocatedBytes(precise: true);
        var meter = Meter.Start();
        RunAll();
        var sample = meter.Stop(operations);

        // The tasks and buffers are allocated once per round and do not count as a cost of the calls.
        var perCall = (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)operations;
        return sample with { BytesAllocated = perCall < 1 ? 0 : perCall };
    }

    public void Dispose()
    {
        // The group owns the client.
    }

#pragma warning disable VSTHRD002 // A benchmark has a thread of its own.
    private void RunAll() => Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(GetAsync))).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private async Task GetAsync()
    {
        var buffer = new ArrayBufferWriter<byte>(BufferBytes);
        for (var i = operations / callers; i > 0; i--)
        {
            buffer.ResetWrittenCount();
            if (!await client.GetAsync(key, buffer).ConfigureAwait(false))
            {
                throw new InvalidDataException("The value is gone.");
            }
        }
    }
}
