namespace Cairn.Caching.Telemetry;

/// <summary>The health of a second level.</summary>
internal readonly record struct LevelHealth
{
    /// <summary>Calls that failed since the creation of the cache.</summary>
    public long Failures { get; init; }

    /// <summary>Calls that were abandoned because they took too long.</summary>
    public long Timeouts { get; init; }

    /// <summary>Calls that were not made because the circuit was open.</summary>
    public long Refused { get; init; }

    /// <summary>Pending changes: those that the level does not have yet.</summary>
    public long PendingChanges { get; init; }

    /// <summary>True while the circuit breaker is open after repeated failures.</summary>
    public bool IsBroken { get; init; }

    /// <summary>True while the channel delivers no changes of other machines, so that the first level is not trusted.</summary>
    public bool IsCutOff { get; init; }
}
