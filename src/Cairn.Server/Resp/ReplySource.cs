using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>A copy of the value that a reply in pieces is created from. The copy makes all elements of the reply consistent.</summary>
internal sealed class ReplySource(HeldMemory memory)
{
    private Block? _block;
    private int _length;

    public bool IsHeld => _block is not null;

    public ReadOnlySpan<byte> Bytes => _block is null ? default : _block.Span[.._length];

    public void Hold(ReadOnlySpan<byte> value)
    {
        Release();
        _block = memory.Rent(value.Length);
        _length = value.Length;
        value.CopyTo(_block.Span);
    }

    public void Release()
    {
        if (_block is { } block)
        {
            _block = null;
            memory.Return(block);
        }
    }
}
