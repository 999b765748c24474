namespace Cairn.FileStore.Entries;

/// <summary>What a key has, or (without a value) that it was removed. Its facts never change; a change is another entry.</summary>
internal sealed class Entry
{
    /// <summary><see cref="ExpiresTicks"/> of what never expires.</summary>
    public const long Never = long.MaxValue;

    // Null for a text that never expires, which most entries are: a read then needs nothing but key and value, and does not
    // even look at what kind of object the value is. One line of the processor's cache holds it all.
    private Facts? _facts;

    /// <summary>Makes one that nobody sees yet.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">A string, a <see cref="JsonText"/>, a byte array that nobody changes; null: removed.</param>
    public Entry(string key, object? value)
    {
        Key = key;
        Value = value;
        _facts = value is null or string ? null : Facts.OfOtherValue;
    }

    public string Key { get; }

    public object? Value { get; }

    /// <summary>From this moment on (UTC ticks) the entry is gone.</summary>
    public long ExpiresTicks
    {
        get => _facts is { } facts ? facts.ExpiresTicks : Never;
        init => _facts = value == Never ? _facts : (_facts ?? Facts.OfOtherValue) with { ExpiresTicks = value };
    }

    /// <summary>How uses prolong its life; null if they do not.</summary>
    public SlidingTimes? Sliding
    {
        get => _facts?.Sliding;
        init => _facts = value is null ? _facts : (_facts ?? Facts.OfOtherValue) with { Sliding = value };
    }

    /// <summary>Bytes of its line in the file, with the comma and the line feed before it.</summary>
    public int LineBytes { get; set; }

    /// <summary>Rises with the lines of the file.</summary>
    public long Order { get; set; }

    public bool IsPending => _facts?.Pending is not null;

    // Acquire; pairs with Settle: who sees one entry of a batch settled sees the batch complete in all others.
    /// <summary>Whether it is a string, or nothing, that everybody may see and that never expires.</summary>
    public bool IsPlain => Volatile.Read(ref _facts) is null;

    /// <summary>The same with another expiration and line.</summary>
    public Entry With(long expiresTicks, int lineBytes) => new(Key, Value)
    {
        ExpiresTicks = expiresTicks,
        Sliding = Sliding,
        LineBytes = lineBytes,
    };

    /// <summary>Whether a reader could tell it from the other.</summary>
    public bool SaysTheSameAs(Entry? other) => other is not null && ExpiresTicks == other.ExpiresTicks && (Value, other.Value) switch
    {
        (JsonText left, JsonText right) => left.Utf8.AsSpan().SequenceEqual(right.Utf8),
        (byte[] left, byte[] right) => left.AsSpan().SequenceEqual(right),
        _ => Equals(Value, other.Value),
    };

    /// <summary>Whether it is still there.</summary>
    public bool IsAliveAt(long nowTicks) => Value is not null && nowTicks < ExpiresTicks;

    /// <summary>What readers see under this key now.</summary>
    public Entry? Visible() => Volatile.Read(ref _facts)?.Pending is { Batch.IsComplete: false } pending ? pending.Previous : this;

    /// <summary>Makes it part of a batch. Nobody else sees it yet.</summary>
    public void HideUntil(ChangeBatch batch, Entry? previous) =>
        _facts = (_facts ?? Facts.OfOtherValue) with { Pending = new PendingChange(batch, previous, _facts) };

    /// <summary>Its batch is complete: lets go of what was there before.</summary>
    public void Settle() => Volatile.Write(ref _facts, _facts!.Pending!.Settled);

    /// <summary>What few entries have.</summary>
    private sealed record Facts(long ExpiresTicks, SlidingTimes? Sliding, PendingChange? Pending)
    {
        /// <summary>Says nothing but that the value is not a string.</summary>
        public static readonly Facts OfOtherValue = new(Never, Sliding: null, Pending: null);
    }

    /// <summary>While a batch that an entry belongs to is not complete, readers see what was there before; see EntryTable.</summary>
    private sealed record PendingChange(ChangeBatch Batch, Entry? Previous, Facts? Settled);
}

/// <summary>How uses prolong the life of an entry.</summary>
/// <param name="Ticks">How long it lives from each use.</param>
/// <param name="LatestTicks">Beyond this no use prolongs it (UTC ticks).</param>
internal sealed record SlidingTimes(long Ticks, long LatestTicks);

/// <summary>Changes that readers see all at once.</summary>
internal sealed class ChangeBatch
{
    private bool _isComplete;

    // Acquire; pairs with Complete: who sees the batch complete sees its entries in the table.
    public bool IsComplete => Volatile.Read(ref _isComplete);

    public void Complete() => Volatile.Write(ref _isComplete, true);
}
