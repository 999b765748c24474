using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>The requests that a client has sent since MULTI, unchanged. Each is within one block. The blocks count as the connection's
/// memory.</summary>
internal sealed class QueuedRequests(HeldMemory memory)
{
    private const int FirstBlockBytes = 1 << 10;
    private const int LargestBlockBytes = 64 << 10;

    private readonly List<(Block Block, int Used)> _blocks = [];

    public int BlockCount => _blocks.Count;

    /// <summary>Gets the number of bytes of the requests.</summary>
    public long Bytes { get; private set; }

    /// <summary>Gets the complete requests in a block, one after the other.</summary>
    public ReadOnlySpan<byte> this[int block] => _blocks[block].Block.Span[.._blocks[block].Used];

    public void Add(ReadOnlySpan<byte> request)
    {
        if (_blocks.Count == 0 || _blocks[^1].Block.Length - _blocks[^1].Used < request.Length)
        {
            int likely = _blocks.Count == 0 ? FirstBlockBytes : Math.Min(2 * _blocks[^1].Block.Length, LargestBlockBytes);
            _blocks.Add((memory.Rent(Math.Max(likely, request.Length)), 0));
        }

        (Block block, int used) = _blocks[^1];
        request.CopyTo(block.Span[used..]);
        _blocks[^1] = (block, used + request.Length);
        Bytes += request.Length;
    }

    public void Clear()
    {
        foreach ((Block block, _) in _blocks)
        {
            memory.Return(block);
        }

        _blocks.Clear();
        _blocks.Capacity = 0;
        Bytes = 0;
    }
}
