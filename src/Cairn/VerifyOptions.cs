namespace Cairn;

/// <summary>How a store is verified.</summary>
public sealed record VerifyOptions
{
    /// <summary>
    /// The maximum number of findings that the report lists, 0 to 1,000,000. The report counts all findings. Default 1,000: enough to understand the damage
    /// of a file that has lost whole pages.
    /// </summary>
    public int MaxFindings { get; init; } = 1_000;

    /// <summary>The source of time, by which expired entries are recognized. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    internal void Validate()
    {
        if (MaxFindings is < 0 or > 1_000_000)
        {
            throw new ArgumentOutOfRangeException(
                nameof(MaxFindings), MaxFindings, $"{nameof(VerifyOptions)}.{nameof(MaxFindings)} must be 0 to 1,000,000.");
        }

        ArgumentNullException.ThrowIfNull(TimeProvider);
    }
}
