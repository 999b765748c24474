using System.Buffers;
using System.Text;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>A serializer whose first call waits until the test releases it.</summary>
internal sealed class HeldSerializer : IHybridCacheSerializer<ValueTests.Book>
{
    private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _letGo = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task HeldAsync() => _held.Task.WaitAsync(TimeSpan.FromSeconds(30));

    public void LetGo() => _letGo.SetResult();

    public ValueTests.Book Deserialize(ReadOnlySequence<byte> source) => new() { Title = Encoding.UTF8.GetString(source) };

    public void Serialize(ValueTests.Book value, IBufferWriter<byte> target)
    {
        if (_held.TrySetResult())
        {
            using var ended = new ManualResetEventSlim();
            _ = _letGo.Task.ContinueWith(_ => ended.Set(), CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
            ended.Wait(CancellationToken.None);
        }

        Encoding.UTF8.GetBytes(value.Title, target);
    }
}
