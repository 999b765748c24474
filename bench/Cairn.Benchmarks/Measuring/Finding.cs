namespace Cairn.Benchmarks.Measuring;

/// <summary>One line of a report: how a subject did in a case against one peer.</summary>
internal sealed record Finding(string Case, string Subject, string Against)
{
    /// <summary>The subject's cost per operation; <see langword="null"/> if it could not be measured.</summary>
    public Sample? Measured { get; init; }

    /// <summary>The peer's cost per operation, where the peer is something that ran.</summary>
    public Sample? Peer { get; init; }

    /// <summary>Subject by peer; <see langword="null"/> if it could not be measured.</summary>
    public double? Ratio { get; init; }

    /// <summary>The ratio wanted; <see langword="null"/> when the line only informs.</summary>
    public Goal? Goal { get; init; }

    /// <summary>What a reader must know to take the line for what it is.</summary>
    public string? Note { get; init; }

    /// <summary>Whether the goal is met; what could not be measured does not meet it.</summary>
    public bool? IsMet => Goal is null ? null : Ratio is { } ratio && Goal.IsMetBy(ratio);
}
