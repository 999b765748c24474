using Cairn.Engine;

namespace Cairn;

/// <summary>A value that stays in place in the store's memory until this object is disposed.</summary>
/// <remarks>
/// A pinned value prevents the eviction of its segment, so keep it only for a short time. One opening of a store can pin values in 48 segments at a time. A
/// value that is pinned in a further segment is a copy. <see cref="Value"/> can be read from any thread until the object is disposed. Dispose it once,
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

    // The constructor for an encrypted store. The value is a decrypted copy, because the file contains only the encrypted bytes.
    internal PinnedValue(byte[] opened, EntryInfo info)
    {
        _opened = opened;
        Info = info;
        GC.SuppressFinalize(this);
    }

    /// <summary>Releases the pin if the object was never disposed.</summary>
    ~PinnedValue()
    {
        Release(isFinalizing: true);
    }

    /// <summary>Gets the entry's information.</summary>
    public EntryInfo Info { get; }

    /// <summary>Gets the value's bytes. They do not change, even if the key is written or removed.</summary>
    /// <exception cref="ObjectDisposedException">The object was disposed.</exception>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
            return _opened is not null ? _opened : _pin.Value;
        }
    }

    /// <summary>Releases the pin, so that the store can reuse the memory.</summary>
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
