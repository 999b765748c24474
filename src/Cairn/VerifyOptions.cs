namespace Cairn;

/// <summary>How a store is verified.</summary>
public sealed record VerifyOptions
{
    /// <summary>
    /// How many findings the report lists, 0 to 1,000,000; it counts them all. Default 1,000: enough to see what happened to a file of
    /// which whole pages are gone.
    /// </summary>
    public int MaxFindings { get; init; } = 1_000;

    /// <summary>Source of time, to tell expired entries from others. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    internal void Validate()
    {
        if (MaxFindings is < 0 or > 1_000_000)
        {
            throw new ArgumentOutOfRangeException(
                nameof(MaxFindings), MaxFindings, $"{nameof(VerifyOptions)}.{nameof(MaxFindings)} must be 0 to 1,000,000.");
        }

        ArgumentNullException.ThrowIfNull(Clock);
    }
}
