using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>A writer's turn that lasts until the test ends it.</summary>
internal sealed class HeldTurn : IDisposable
{
    private readonly MappedChannel _channel;
    private bool _isEnded;

    public HeldTurn(string sidePath)
    {
        _channel = MappedChannel.TryOpen(sidePath, sidePath, out _)!;
        _channel.Enter(TimeSpan.FromSeconds(10));
    }

    public void Dispose()
    {
        if (!_isEnded)
        {
            _isEnded = true;
            _channel.Leave();
            _channel.Close();
        }
    }
}
