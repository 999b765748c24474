namespace Cairn.Engine;

/// <summary>The result of an attempt to pin a value.</summary>
internal enum PinStatus
{
    /// <summary>The caller holds a <see cref="Pin"/> and must dispose it.</summary>
    Pinned,

    /// <summary>The key has no value.</summary>
    Missing,

    /// <summary>The key may have a value. No hazard cell is free for this use, and the entry is longer than the caller's limit for a copy.</summary>
    NoFreeCell,
}

/// <summary>An entry whose bytes do not change until the pin is disposed. It is in place in the store or a copy.</summary>
/// <remarks>Dispose exactly one copy of this value, once. The default value holds nothing.</remarks>
internal unsafe struct Pin : IDisposable
{
    private StoreEngine? _engine;
    private readonly int _cell;

    /// <summary>Creates a pin of an entry in the store.</summary>
    public Pin(StoreEngine engine, int cell, in EntryView entry, in EntryInfo info)
    {
        Debug.Assert(cell >= 0, "A pin has a cell.");
        _engine = engine;
        _cell = cell;
        Entry = entry;
        Info = info;
    }

    /// <summary>Creates a pin of a copy of a whole entry. The copy is in memory from <see cref="NativeMemory"/>, which the pin frees.</summary>
    public Pin(in EntryView copy, in EntryInfo info)
    {
        _cell = -1;
        Entry = copy;
        Info = info;
    }

    /// <summary>Gets the entry. Its sliding deadline can change in place; the other bytes do not change.</summary>
    public EntryView Entry { get; private set; }

    public EntryInfo Info { get; private set; }

    public readonly bool IsHeld => Entry.Start != null;

    /// <summary>Gets the number of bytes of memory that a copy takes; 0 for an entry in the store.</summary>
    public readonly long CopyBytes => IsHeld && _engine is null ? Entry.UnpaddedBytes : 0;

    /// <summary>Gets the value. A defective process can overwrite it.</summary>
    public readonly ReadOnlySpan<byte> Value => new(Entry.Value, Info.ValueBytes);

    public void Dispose() => Release(isFinalizing: false);

    /// <summary>Releases the entry.</summary>
    /// <param name="isFinalizing">Whether the finalizer thread calls. It must not wait for locks (<see cref="StoreEngine.Unpin"/>).</param>
    public void Release(bool isFinalizing)
    {
        if (!IsHeld)
        {
            return;
        }

        byte* start = Entry.Start;
        StoreEngine? engine = _engine;
        Entry = default;
        Info = default;
        _engine = null;
        if (engine is null)
        {
            NativeMemory.Free(start);
        }
        else
        {
            engine.Unpin(_cell, isFinalizing);
        }
    }
}
