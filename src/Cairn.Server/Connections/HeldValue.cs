using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;

namespace Cairn.Server.Connections;

/// <summary>
/// A long value that a connection holds while its client reads it. The value is pinned in the store or, if no hazard cell is free, copied
/// within the connection's limits. If neither is possible, the connection waits. Worker only.
/// </summary>
internal struct HeldValue
{
    private readonly ClientConnection? _connection;
    private Pin _pin;

    /// <summary>Creates an instance that holds nothing yet.</summary>
    /// <param name="connection">The connection; null for a session without one, which has no limits.</param>
    public HeldValue(ClientConnection? connection) => _connection = connection;

    public readonly bool IsHeld => _pin.IsHeld;

    public readonly EntryInfo Info => _pin.Info;

    public readonly ReadOnlySpan<byte> Value => _pin.Value;

    /// <summary>Pins or copies a key's value.</summary>
    /// <returns>The result. With <see cref="PinStatus.NoFreeCell"/> the connection waits: the session does not consume the request, and
    /// executes it again.</returns>
    public PinStatus TryHold(StoreEngine engine, in KeyRef key, bool isUse, bool acceptHash = false)
    {
        if (_connection is null)
        {
            return engine.TryPin(key, PinTerm.Lasting, out _pin, mostCopied: long.MaxValue, isUse, acceptHash: acceptHash);
        }

        PinTerm term = _connection.MayTakeCell ? PinTerm.Lasting : PinTerm.LastingIfShared;
        PinStatus status = engine.TryPin(key, term, out _pin, _connection.MostCopied, isUse, acceptHash: acceptHash);
        if (status == PinStatus.NoFreeCell)
        {
            _connection.WaitForCell();
        }

        _connection.CountCopied(_pin.CopyBytes);
        return status;
    }

    /// <summary>Releases the value. A waiting connection may then be served.</summary>
    public void Release()
    {
        if (_pin.IsHeld)
        {
            long copied = _pin.CopyBytes;
            _pin.Dispose();
            _connection?.CountCopied(-copied);
            _connection?.OnCellReleased();
        }
    }
}
