namespace Cairn.Soak.Pressure;

/// <summary>Latencies of the steady clients in one phase, measured from the moment when a request was due.</summary>
/// <param name="Requests">Requests that were answered.</param>
/// <param name="Failed">Requests without an answer, or with a wrong one.</param>
/// <param name="P50Us">Median in microseconds.</param>
/// <param name="P99Us">The 99th percentile in microseconds.</param>
/// <param name="P999Us">The 99.9th percentile in microseconds.</param>
internal readonly record struct SteadyFigures(int Requests, int Failed, double P50Us, double P99Us, double P999Us);

/// <summary>What happened to the clients of the crowd.</summary>
/// <param name="Accepted">Clients that were answered.</param>
/// <param name="Refused">Clients that got an error or the end of the connection instead of their first answer, or nothing.</param>
/// <param name="ClosedReaders">Slow readers that the server disconnected afterwards.</param>
/// <param name="ClosedGreedy">Greedy clients that the server disconnected afterwards.</param>
internal readonly record struct CrowdFigures(int Accepted, int Refused, int ClosedReaders, int ClosedGreedy);

/// <summary>One coming and leaving of the crowd.</summary>
/// <param name="Alone">The steady clients before it.</param>
/// <param name="Pressed">The steady clients beside it.</param>
/// <param name="Crowd">Its clients.</param>
/// <param name="PeakBytes">The most anonymous memory that the server had.</param>
/// <param name="LeftBytes">The server's anonymous memory some time after the crowd had left (<see cref="PressureRun.Run"/>).</param>
/// <param name="ServerCpu">Share of a processor that the server took beside the crowd.</param>
internal sealed record PressureRound(SteadyFigures Alone, SteadyFigures Pressed, CrowdFigures Crowd, long PeakBytes, long LeftBytes, double ServerCpu);

/// <summary>What a run found.</summary>
/// <param name="Capacity">Requests a second that the steady clients got answered without a pause.</param>
/// <param name="Rate">Requests a second that they sent in the phases.</param>
/// <param name="IdleBytes">The server's anonymous memory before the first crowd.</param>
/// <param name="Rounds">Every round.</param>
/// <param name="Memory">The server's anonymous memory over time.</param>
internal sealed record PressureResult(
    double Capacity, double Rate, long IdleBytes, IReadOnlyList<PressureRound> Rounds, IReadOnlyList<(TimeSpan At, long Bytes)> Memory);
