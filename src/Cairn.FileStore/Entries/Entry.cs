namespace Cairn.FileStore.Entries;

/// <summary>
/// The value of a key or, without a value, the record of its removal. Key, value and expiration never change; a change creates another entry.
/// </summary>
internal sealed class Entry
{
    /// <summary>The <see cref="ExpiresTicks"/> of an entry that never expires.</summary>
    public const long Never = long.MaxValue;

    // Null for text that never expires, as most entries are. A read of such an entry needs only key and value and does not check the type of
    // the value, so it touches one cache line of the processor.
    private Facts? _facts;

    /// <summary>Creates an entry that is not yet visible to readers.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">A string, a <see cref="JsonText"/>, or a byte array that must not change; null for a removal.</param>
    public Entry(string key, object? value)
    {
        Key = key;
        Value = value;
        _facts = value is null or string ? null : Facts.OfOtherValue;
    }

    public string Key { get; }

    public object? Value { get; }

    /// <summary>Gets the time, in UTC ticks, at which the entry expires.</summary>
    public long ExpiresTicks
    {
        get => _facts is { } facts ? facts.ExpiresTicks : Never;
        init => _facts = value == Never ? _facts : (_facts ?? Facts.OfOtherValue) with { ExpiresTicks = value };
    }

    /// <summary>Gets the sliding expiration; null if there is none.</summary>
    public SlidingTimes? Sliding
    {
        get => _facts?.Sliding;
        init => _facts = value is null ? _facts : (_facts ?? Facts.OfOtherValue) with { Sliding = value };
    }

    /// <summary>Gets or sets the length of the entry's line in the file in bytes, with the comma and line feed before it.</summary>
    public int LineBytes { get; set; }

    /// <summary>Gets or sets the position of the entry's line relative to others; it increases from line to line.</summary>
    public long Order { get; set; }

    public bool IsPending => _facts?.Pending is not null;

    /// <summary>Gets whether the value is a string or null, is visible to all readers and never expires.</summary>
    // Acquire; pairs with Settle: a reader that sees one entry of a batch settled sees the batch complete in all its entries.
    public bool IsPlain => Volatile.Read(ref _facts) is null;

    /// <summary>Returns a copy with another expiration and line length.</summary>
    public Entry With(long expiresTicks, int lineBytes) => new(Key, Value)
    {
        ExpiresTicks = expiresTicks,
        Sliding = Sliding,
        LineBytes = lineBytes,
    };

    /// <summary>Returns whether readers cannot distinguish the two entries.</summary>
    public bool SaysTheSameAs(Entry? other) => other is not null && ExpiresTicks == other.ExpiresTicks && (Value, other.Value) switch
    {
        (JsonText left, JsonText right) => left.Utf8.AsSpan().SequenceEqual(right.Utf8),
        (byte[] left, byte[] right) => left.AsSpan().SequenceEqual(right),
        _ => Equals(Value, other.Value),
    };

    /// <summary>Returns whether the entry has a value and has not expired.</summary>
    public bool IsAliveAt(long nowTicks) => Value is not null && nowTicks < ExpiresTicks;

    /// <summary>Returns the entry that readers currently see for this key.</summary>
    public Entry? Visible() => Volatile.Read(ref _facts)?.Pending is { Batch.IsComplete: false } pending ? pending.Previous : this;

    /// <summary>Makes the entry part of a batch, before the entry is visible to readers.</summary>
    public void HideUntil(ChangeBatch batch, Entry? previous) =>
        _facts = (_facts ?? Facts.OfOtherValue) with { Pending = new PendingChange(batch, previous, _facts) };

    /// <summary>Releases the previous entry after the batch is complete.</summary>
    public void Settle() => Volatile.Write(ref _facts, _facts!.Pending!.Settled);

    /// <summary>The properties that few entries have.</summary>
    private sealed record Facts(long ExpiresTicks, SlidingTimes? Sliding, PendingChange? Pending)
    {
        /// <summary>The facts of a value that is not a string and never expires.</summary>
        public static readonly Facts OfOtherValue = new(Never, Sliding: null, Pending: null);
    }

    /// <summary>The batch of an entry. Until it is complete, readers see the previous entry; see <see cref="EntryTable"/>.</summary>
    private sealed record PendingChange(ChangeBatch Batch, Entry? Previous, Facts? Settled);
}

/// <summary>A sliding expiration.</summary>
/// <param name="Ticks">The lifetime after each use.</param>
/// <param name="LatestTicks">The latest expiration, in UTC ticks.</param>
internal sealed record SlidingTimes(long Ticks, long LatestTicks);

/// <summary>Changes that become visible to readers at the same time.</summary>
internal sealed class ChangeBatch
{
    private bool _isComplete;

    // Acquire; pairs with Complete: a reader that sees the batch complete also sees its entries in the table.
    public bool IsComplete => Volatile.Read(ref _isComplete);

    public void Complete() => Volatile.Write(ref _isComplete, true);
}
