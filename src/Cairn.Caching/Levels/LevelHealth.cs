namespace Cairn.Caching.Levels;

/// <summary>How a second level is doing.</summary>
internal readonly record struct LevelHealth
{
    /// <summary>Calls that failed, since the cache was made.</summary>
    public long Failures { get; init; }

    /// <summary>Calls that were given up because they took too long.</summary>
    public long Timeouts { get; init; }

    /// <summary>Calls that were not made because the circuit was open.</summary>
    public long Refused { get; init; }

    /// <summary>Changes that the level does not have yet.</summary>
    public long OwedChanges { get; init; }

    /// <summary>True while no calls are made after many have failed.</summary>
    public bool IsBroken { get; init; }

    /// <summary>True while changes made elsewhere cannot be heard of, so that the first level is not relied on.</summary>
    public bool IsCutOff { get; init; }
}
