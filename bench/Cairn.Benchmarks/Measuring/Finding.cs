namespace Cairn.Benchmarks.Measuring;

/// <summary>One line of a report: the result of a subject in a case against one peer.</summary>
internal sealed record Finding(string Case, string Subject, string Against)
{
    /// <summary>Gets the subject's cost per operation; <see langword="null"/> if it could not be measured.</summary>
    public Sample? Measured { get; init; }

    /// <summary>Gets the peer's cost per operation; <see langword="null"/> if the peer is a limit and not something that ran.</summary>
    public Sample? Peer { get; init; }

    /// <summary>Gets the subject's figure divided by the peer's; <see langword="null"/> if it could not be measured.</summary>
    public double? Ratio { get; init; }

    /// <summary>Gets the required ratio; <see langword="null"/> when the line only informs.</summary>
    public Goal? Goal { get; init; }

    /// <summary>Gets a remark that the reader needs to interpret the line.</summary>
    public string? Note { get; init; }

    /// <summary>Gets whether the goal is met. A finding without a figure does not meet its goal.</summary>
    public bool? IsMet => Goal is null ? null : Ratio is { } ratio && Goal.IsMetBy(ratio);
}
