using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>A long value that a session writes as its client reads. It is held only until its last byte is written. Worker only.</summary>
internal struct LongValue(ClientConnection? connection)
{
    private const int PieceBytes = 16 << 10;

    private HeldValue _held = new(connection);
    private int _offset;

    public readonly bool IsHeld => _held.IsHeld;

    public readonly EntryInfo Info => _held.Info;

    /// <summary>Holds a key's value; see <see cref="HeldValue.TryHold"/>.</summary>
    public PinStatus TryHold(StoreEngine engine, in KeyRef key, bool isUse = true) => _held.TryHold(engine, key, isUse);

    /// <summary>Writes more of the value, and then the bytes that follow it. Returns false if the client has to read first.</summary>
    public bool TryContinue(OutputBuffer output, ReadOnlySpan<byte> end)
    {
        if (!_held.IsHeld)
        {
            return true;
        }

        ReadOnlySpan<byte> value = _held.Value;
        while (_offset < value.Length)
        {
            if (output.IsFull)
            {
                return false;
            }

            int length = Math.Min(PieceBytes, value.Length - _offset);
            output.Write(value.Slice(_offset, length));
            _offset += length;
        }

        output.Write(end);
        _offset = 0;
        _held.Release();
        return true;
    }

    /// <summary>Releases the value before it is complete.</summary>
    public void Release() => _held.Release();
}
