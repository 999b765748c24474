using System.Buffers;
using Cairn.Benchmarks.Measuring;
using Cairn.Redis;

namespace Cairn.Benchmarks.RedisClients;

/// <summary>Callers that each get a value, again when it has come, over one connection.</summary>
internal sealed class PipelinedGets(RedisClient client, string key, int callers, int operations) : IContender
{
    private const int BufferBytes = 256;

    public string Name => "Cairn";

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        // Whichever threads the calls allocate on.
        var before = GC.GetTotalAllocatedBytes(precise: true);
        var meter = Meter.Start();
        RunAll();
        var sample = meter.Stop(operations);

        // What a round takes once, its tasks and buffers, is not a call's.
        var perCall = (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)operations;
        return sample with { BytesAllocated = perCall < 1 ? 0 : perCall };
    }

    public void Dispose()
    {
        // The client is the group's.
    }

#pragma warning disable VSTHRD002 // A benchmark has its thread for itself.
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
