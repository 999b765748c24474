using Cairn.Engine;

namespace Cairn;

/// <summary>A value that stays where it is in the store's memory until this is disposed.</summary>
/// <remarks>
/// Holds back the eviction of the segment it lies in, so keep it for moments. A process can hold 64 of them at a time. Reading
/// <see cref="Value"/> is safe from any thread while this is not disposed; dispose it once, before the store.
/// </remarks>
public sealed unsafe class PinnedValue : IDisposable
{
    private readonly StoreEngine? _engine;
    private readonly byte* _value;
    private readonly byte[]? _copy;
    private int _cell;

    internal PinnedValue(StoreEngine engine, int cell, byte* value, EntryInfo info)
    {
        _engine = engine;
        _cell = cell;
        _value = value;
        Info = info;
    }

    // Of an encrypted store, where what lies in the file is not the value.
    internal PinnedValue(byte[] copy, EntryInfo info)
    {
        _copy = copy;
        Info = info;
        GC.SuppressFinalize(this);
    }

    /// <summary>Gives up the pin of a value that was never disposed.</summary>
    ~PinnedValue()
    {
        Release(isFinalizing: true);
    }

    /// <summary>What is known of the entry.</summary>
    public EntryInfo Info { get; }

    /// <summary>The value's bytes. They do not change, whatever happens to the key.</summary>
    /// <exception cref="ObjectDisposedException">This was disposed.</exception>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            ObjectDisposedException.ThrowIf(_cell < 0, this);
            return _copy is not null ? _copy : new ReadOnlySpan<byte>(_value, Info.ValueBytes);
        }
    }

    /// <summary>Lets the store have its memory back.</summary>
    public void Dispose()
    {
        Release(isFinalizing: false);
        GC.SuppressFinalize(this);
    }

    private void Release(bool isFinalizing)
    {
        int cell = Interlocked.Exchange(ref _cell, -1);
        if (cell >= 0)
        {
            _engine?.Unpin(cell, isFinalizing);
        }
    }
}
