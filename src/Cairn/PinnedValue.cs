using Cairn.Engine;

namespace Cairn;

/// <summary>A value that stays where it is in the store's memory until this is disposed.</summary>
/// <remarks>
/// Holds back the eviction of the segment it lies in, so keep it for moments. An opening of a store can hold back 48 segments at a time: a value
/// that is pinned beyond them is a copy. Reading <see cref="Value"/> is safe from any thread while this is not disposed; dispose it once,
/// before the store.
/// </remarks>
public sealed class PinnedValue : IDisposable
{
    private readonly byte[]? _opened;
    private Pin _pin;
    private int _isDisposed;

    internal PinnedValue(in Pin pin)
    {
        _pin = pin;
        Info = pin.Info;
    }

    // Of an encrypted store, where what lies in the file is not the value.
    internal PinnedValue(byte[] opened, EntryInfo info)
    {
        _opened = opened;
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
            ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
            return _opened is not null ? _opened : _pin.Value;
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
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            _pin.Release(isFinalizing);
        }
    }
}
