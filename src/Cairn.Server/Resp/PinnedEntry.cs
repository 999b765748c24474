using Cairn.Engine;

namespace Cairn.Server.Resp;

/// <summary>A value or a hash that is looked at in place, in the store's memory.</summary>
internal ref struct PinnedEntry
{
    private readonly StoreEngine _engine;
    private int _cell;

    public PinnedEntry(StoreEngine engine, int cell, ReadOnlySpan<byte> bytes, EntryInfo info)
    {
        _engine = engine;
        _cell = cell;
        Bytes = bytes;
        Info = info;
    }

    /// <summary>Empty if there is no entry. Another process may write over them, which readers must survive.</summary>
    public ReadOnlySpan<byte> Bytes { get; }

    public EntryInfo Info { get; }

    public readonly bool IsFound => Info.Version != 0;

    public void Dispose()
    {
        if (_cell >= 0)
        {
            _engine.Unpin(_cell);
            _cell = -1;
        }
    }
}
