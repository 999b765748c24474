namespace Cairn.Soak.Pressure;

/// <summary>The latencies of the steady clients in one phase. A latency starts when the request was due.</summary>
/// <param name="Requests">The number of requests that were answered.</param>
/// <param name="Failed">The number of requests without an answer, or with a wrong one.</param>
/// <param name="P50Us">The median in microseconds.</param>
/// <param name="P99Us">The 99th percentile in microseconds.</param>
/// <param name="P999Us">The 99.9th percentile in microseconds.</param>
internal readonly record struct SteadyFigures(int Requests, int Failed, double P50Us, double P99Us, double P999Us);

/// <summary>The counts of the clients of the crowd.</summary>
/// <param name="Accepted">The clients that were answered.</param>
/// <param name="Refused">The clients whose first answer was an error or the end of the connection, or that got no answer.</param>
/// <param name="ClosedReaders">The slow readers that the server disconnected afterwards.</param>
/// <param name="ClosedGreedy">The greedy clients that the server disconnected afterwards.</param>
internal readonly record struct CrowdFigures(int Accepted, int Refused, int ClosedReaders, int ClosedGreedy);

/// <summary>One round: the crowd connects, stays and leaves.</summary>
/// <param name="Alone">The figures of the steady clients before the crowd connected.</param>
/// <param name="Pressed">The figures of the steady clients beside the crowd.</param>
/// <param name="Crowd">The counts of the crowd's clients.</param>
/// <param name="PeakBytes">The server's largest anonymous memory.</param>
/// <param name="LeftBytes">The server's anonymous memory some time after the crowd had left (<see cref="PressureRun.Run"/>).</param>
/// <param name="ServerCpu">The share of a processor that the server used beside the crowd.</param>
internal sealed record PressureRound(SteadyFigures Alone, SteadyFigures Pressed, CrowdFigures Crowd, long PeakBytes, long LeftBytes, double ServerCpu);

/// <summary>The result of a run.</summary>
/// <param name="Capacity">The requests a second that the server answered when the steady clients did not pause.</param>
/// <param name="Rate">The requests a second that the steady clients sent in the phases.</param>
/// <param name="IdleBytes">The server's anonymous memory before the first crowd.</param>
/// <param name="Rounds">The result of every round.</param>
/// <param name="Memory">The server's anonymous memory over time.</param>
internal sealed record PressureResult(
    double Capacity, double Rate, long IdleBytes, IReadOnlyList<PressureRound> Rounds, IReadOnlyList<(TimeSpan At, long Bytes)> Memory);
