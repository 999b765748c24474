namespace Cairn.FileStore.Entries;

/// <summary>What a key has, or (without a value) that it was removed. Its facts never change; a change is another entry.</summary>
/// <param name="key">The key.</param>
/// <param name="value">A string, a <see cref="JsonText"/>, a byte array that nobody changes; null: removed.</param>
internal sealed class Entry(string key, object? value)
{
    /// <summary><see cref="ExpiresTicks"/> of what never expires.</summary>
    public const long Never = long.MaxValue;

    // While a batch that this entry belongs to is not complete, readers see what was there before; see EntryTable.
    private PendingChange? _pending;

    // What few entries have, apart from what every read looks at.
    private SlidingTimes? _sliding;

    public string Key { get; } = key;

    public object? Value { get; } = value;

    /// <summary>From this moment on (UTC ticks) the entry is gone.</summary>
    public long ExpiresTicks { get; init; } = Never;

    /// <summary>How uses prolong its life; null if they do not.</summary>
    public SlidingTimes? Sliding
    {
        get => _sliding;
        init => _sliding = value;
    }

    /// <summary>Bytes of its line in the file, with the comma and the line feed before it.</summary>
    public int LineBytes { get; set; }

    /// <summary>Rises with the lines of the file.</summary>
    public long Order { get; set; }

    public bool IsPending => _pending is not null;

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
        (JsonText left, JsonText right) => left.Text == right.Text,
        (byte[] left, byte[] right) => left.AsSpan().SequenceEqual(right),
        _ => Equals(Value, other.Value),
    };

    /// <summary>Whether it is still there.</summary>
    public bool IsAliveAt(long nowTicks) => Value is not null && nowTicks < ExpiresTicks;

    /// <summary>What readers see under this key now.</summary>
    public Entry? Visible() => Volatile.Read(ref _pending) is { Batch.IsComplete: false } pending ? pending.Previous : this;

    /// <summary>Makes it part of a batch. Nobody else sees it yet.</summary>
    public void HideUntil(ChangeBatch batch, Entry? previous) => _pending = new PendingChange(batch, previous);

    /// <summary>Its batch is complete: lets go of what was there before.</summary>
    public void Settle() => Volatile.Write(ref _pending, null);

    private sealed record PendingChange(ChangeBatch Batch, Entry? Previous);
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
