using System.Buffers;

namespace Cairn.Protocol;

/// <summary>A buffer writer that returns small blocks, so that writers have to continue in the next block.</summary>
internal sealed class BlockWriter(int blockBytes) : IBufferWriter<byte>
{
    private readonly List<byte> _written = [];
    private byte[] _block = [];

    public byte[] Written => [.. _written];

    public void Advance(int count)
    {
        Assert.InRange(count, 0, _block.Length);
        _written.AddRange(_block.AsSpan(0, count));
        _block = [];
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        _block = new byte[Math.Max(sizeHint, blockBytes)];
        return _block;
    }

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
}
