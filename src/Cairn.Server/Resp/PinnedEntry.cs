using Cairn.Engine;

namespace Cairn.Server.Resp;

/// <summary>A value or a hash that a command examines: in place in the store's memory, or in a copy if no hazard cell is free.</summary>
internal ref struct PinnedEntry(Pin pin)
{
    private Pin _pin = pin;

    /// <summary>Gets the bytes; empty if there is no entry. Another process may overwrite them, so readers must tolerate any
    /// content.</summary>
    public ReadOnlySpan<byte> Bytes { get; } = pin.IsHeld ? pin.Value : default;

    public EntryInfo Info { get; } = pin.Info;

    public readonly bool IsFound => Info.Version != 0;

    public void Dispose() => _pin.Dispose();
}
