namespace Cairn.FileStore.Entries;

/// <summary>What a key has, or (without a value) that it was removed. Its facts never change; a change is another entry.</summary>
/// <param name="key">The key.</param>
/// <param name="value">A string, a <see cref="JsonText"/>, a byte array that nobody changes; null: removed.</param>
internal sealed class Entry(string key, object? value)
{
    /// <summary><see cref="ExpiresTicks"/> of what never expires.</summary>
    public const long Never = long.MaxValue;

    // While a batch that this entry belongs to is not complete, readers see Previous; see EntryTable.
    private ChangeBatch? _batch;
    private Entry? _previous;

    public string Key { get; } = key;

    public object? Value { get; } = value;

    /// <summary>From this moment on (UTC ticks) the entry is gone.</summary>
    public long ExpiresTicks { get; init; } = Never;

    /// <summary>How much longer each use lets it live; 0 if uses do not.</summary>
    public long SlidingTicks { get; init; }

    /// <summary>Beyond this no use prolongs it (UTC ticks).</summary>
    public long LatestTicks { get; init; } = Never;

    /// <summary>Bytes of its line in the file, with the comma and the line feed before it.</summary>
    public int LineBytes { get; set; }

    /// <summary>Rises with the lines of the file.</summary>
    public long Order { get; set; }

    public bool IsPending => _batch is not null;

    /// <summary>The same with another expiration and line.</summary>
    public Entry With(long expiresTicks, int lineBytes) => new(Key, Value)
    {
        ExpiresTicks = expiresTicks,
        SlidingTicks = SlidingTicks,
        LatestTicks = LatestTicks,
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
    public Entry? Visible()
    {
        ChangeBatch? batch = Volatile.Read(ref _batch);
        if (batch is null)
        {
            return this;
        }

        // In this order: Settle forgets the previous entry only after the batch is complete, so if it is not yet complete
        // now, what was read before is the previous entry and not its absence.
        Entry? previous = Volatile.Read(ref _previous);
        return batch.IsComplete ? this : previous;
    }

    /// <summary>Makes it part of a batch. Nobody else sees it yet.</summary>
    public void HideUntil(ChangeBatch batch, Entry? previous)
    {
        _previous = previous;
        _batch = batch;
    }

    /// <summary>Its batch is complete: lets go of what was there before.</summary>
    public void Settle()
    {
        Volatile.Write(ref _previous, null);
        Volatile.Write(ref _batch, null);
    }
}

/// <summary>Changes that readers see all at once.</summary>
internal sealed class ChangeBatch
{
    private bool _isComplete;

    // Acquire; pairs with Complete: who sees the batch complete sees its entries in the table.
    public bool IsComplete => Volatile.Read(ref _isComplete);

    public void Complete() => Volatile.Write(ref _isComplete, true);
}
