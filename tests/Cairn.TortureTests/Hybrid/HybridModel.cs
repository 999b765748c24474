namespace Cairn.TortureTests.Hybrid;

/// <summary>What the entries of one run have in common.</summary>
internal sealed record ModelOptions
{
    public TimeSpan Expiration { get; init; }

    public TimeSpan? LocalExpiration { get; init; }

    public TimeSpan Sliding { get; init; }

    public TimeSpan Jitter { get; init; }

    public TimeSpan FailSafe { get; init; }

    public TimeSpan Throttle { get; init; }

    public TimeSpan Revalidate { get; init; }

    public double Eager { get; init; }

    /// <summary>True if there is no second level: then the local expiration is the expiration.</summary>
    public bool IsAlone { get; init; }
}

/// <summary>One value, as the model knows it.</summary>
internal sealed record ModelValue(int Number, DateTimeOffset KeptAt, IReadOnlyList<string> Tags)
{
    /// <summary>When it was last read, if it was still fresh then.</summary>
    public DateTimeOffset ReadAt { get; set; } = KeptAt;

    /// <summary>When it was last read while it was fresh for certain.</summary>
    public DateTimeOffset SurelyReadAt { get; set; } = KeptAt;

    /// <summary>When it was told to expire; it is known to one cache only then.</summary>
    public DateTimeOffset? ExpiredAt { get; set; }

    /// <summary>Until when it may be served because a factory failed.</summary>
    public DateTimeOffset ThrottledUntil { get; set; }
}

// Which value may be returned for a key, and which must be. There is at most one: the newest that nothing was done to since.
internal sealed class HybridModel(ModelOptions options)
{
    private readonly Dictionary<string, ModelValue> _values = [];

    public void Keep(string key, int number, IReadOnlyList<string> tags, DateTimeOffset now) => _values[key] = new ModelValue(number, now, tags);

    public void Remove(string key) => _values.Remove(key);

    public void RemoveTag(string tag)
    {
        foreach ((string key, ModelValue value) in _values)
        {
            if (value.Tags.Contains(tag))
            {
                _values.Remove(key);
            }
        }
    }

    public void Clear() => _values.Clear();

    public void Expire(string key, DateTimeOffset now)
    {
        if (_values.TryGetValue(key, out ModelValue? value))
        {
            value.ExpiredAt ??= now;
            value.ThrottledUntil = value.ThrottledUntil < now ? value.ThrottledUntil : now;
        }
    }

    /// <summary>The value was served although it had expired, because the factory failed.</summary>
    public void Throttle(string key, DateTimeOffset now) => _values[key].ThrottledUntil = now + options.Throttle;

    /// <summary>The value was read, and lives on if it was not over yet.</summary>
    public void Use(string key, DateTimeOffset now)
    {
        ModelValue value = _values[key];
        (value.ReadAt, value.SurelyReadAt) = (IsOver(value, now) ? value.ReadAt : now, IsSurelyFresh(value, now) ? now : value.SurelyReadAt);
    }

    public ModelValue? Find(string key) => _values.GetValueOrDefault(key);

    /// <summary>It has certainly not expired: it must be found.</summary>
    public bool IsSurelyFresh(ModelValue value, DateTimeOffset now) =>
        value.ExpiredAt is null
        && now < value.KeptAt + (options.IsAlone ? options.LocalExpiration ?? options.Expiration : options.Expiration)

        // Uses are noticed an eighth late at most here, and another eighth in the store.
        && (options.Sliding == TimeSpan.Zero || now < value.SurelyReadAt + (options.Sliding * 0.75));

    /// <summary>It may count as fresh.</summary>
    public bool IsPerhapsFresh(ModelValue value, DateTimeOffset now) =>
        now < value.ThrottledUntil || !IsOver(value, now);

    /// <summary>It may be served while a new one is made.</summary>
    public bool IsPerhapsRevalidated(ModelValue value, DateTimeOffset now) =>
        options.Revalidate > TimeSpan.Zero && now < LatestEnd(value) + options.Revalidate;

    /// <summary>It may be served if the factory fails.</summary>
    public bool IsPerhapsUsable(ModelValue value, DateTimeOffset now) => now < value.KeptAt + options.Expiration + options.Jitter + Stale;

    /// <summary>It must be served if the factory fails.</summary>
    public bool IsSurelyUsable(ModelValue value, DateTimeOffset now) =>
        options.FailSafe > TimeSpan.Zero && options.Sliding == TimeSpan.Zero && value.ExpiredAt is null
        && now < value.KeptAt + options.Expiration + options.FailSafe
        && !(options.IsAlone && options.LocalExpiration is not null);

    private bool IsOver(ModelValue value, DateTimeOffset now) =>
        value.ExpiredAt is not null || now >= value.KeptAt + options.Expiration + options.Jitter
        || (options.Sliding > TimeSpan.Zero && now >= value.ReadAt + options.Sliding);

    private TimeSpan Stale => options.FailSafe > options.Revalidate ? options.FailSafe : options.Revalidate;

    private DateTimeOffset LatestEnd(ModelValue value)
    {
        DateTimeOffset end = value.ExpiredAt ?? value.KeptAt + options.Expiration + options.Jitter;
        return end > value.ThrottledUntil ? end : value.ThrottledUntil;
    }
}
