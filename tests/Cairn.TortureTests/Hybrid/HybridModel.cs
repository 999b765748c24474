namespace Cairn.TortureTests.Hybrid;

/// <summary>The options that all entries of one run share.</summary>
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

    /// <summary>Gets whether there is no second level. In that case the local expiration is the expiration.</summary>
    public bool IsAlone { get; init; }
}

/// <summary>One value in the model.</summary>
internal sealed record ModelValue(int Number, DateTimeOffset KeptAt, IReadOnlyList<string> Tags)
{
    /// <summary>Gets or sets the time of the last read at which the value may have been fresh.</summary>
    public DateTimeOffset ReadAt { get; set; } = KeptAt;

    /// <summary>Gets or sets the time of the last read at which the value was certainly fresh.</summary>
    public DateTimeOffset SurelyReadAt { get; set; } = KeptAt;

    /// <summary>Gets or sets the time at which the value was expired explicitly. From then on only one cache knows it.</summary>
    public DateTimeOffset? ExpiredAt { get; set; }

    /// <summary>Gets or sets the time until which the value may be served because a factory failed.</summary>
    public DateTimeOffset ThrottledUntil { get; set; }
}

// Decides which value may be returned for a key, and which must be. At most one value exists: the newest, if it was not removed since.
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

    /// <summary>Notes that the value was served although it had expired, because the factory failed.</summary>
    public void Throttle(string key, DateTimeOffset now) => _values[key].ThrottledUntil = now + options.Throttle;

    /// <summary>Notes a read of the value, which extends its life unless it had expired.</summary>
    public void Use(string key, DateTimeOffset now)
    {
        ModelValue value = _values[key];
        (value.ReadAt, value.SurelyReadAt) = (IsOver(value, now) ? value.ReadAt : now, IsSurelyFresh(value, now) ? now : value.SurelyReadAt);
    }

    public ModelValue? Find(string key) => _values.GetValueOrDefault(key);

    /// <summary>Returns whether the value has certainly not expired, so that it must be found.</summary>
    public bool IsSurelyFresh(ModelValue value, DateTimeOffset now) =>
        value.ExpiredAt is null
        && now < value.KeptAt + (options.IsAlone ? options.LocalExpiration ?? options.Expiration : options.Expiration)

        // The cache notices a use at most an eighth of the interval late, and the store another eighth.
        && (options.Sliding == TimeSpan.Zero || now < value.SurelyReadAt + (options.Sliding * 0.75));

    /// <summary>Returns whether the value may count as fresh.</summary>
    public bool IsPerhapsFresh(ModelValue value, DateTimeOffset now) =>
        now < value.ThrottledUntil || !IsOver(value, now);

    /// <summary>Returns whether the value may be served while a new one is created.</summary>
    public bool IsPerhapsRevalidated(ModelValue value, DateTimeOffset now) =>
        options.Revalidate > TimeSpan.Zero && now < LatestEnd(value) + options.Revalidate;

    /// <summary>Returns whether the value may be served if the factory fails.</summary>
    public bool IsPerhapsUsable(ModelValue value, DateTimeOffset now) => now < value.KeptAt + options.Expiration + options.Jitter + Stale;

    /// <summary>Returns whether the value must be served if the factory fails.</summary>
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
