namespace Cairn.Benchmarks.Reporting;

/// <summary>What a service did under load, by the medians of its rounds.</summary>
/// <param name="Subject">The way that requests were served.</param>
/// <param name="RequestsPerSecond">As many as one core could serve.</param>
/// <param name="MedianMs">Half of the requests took at most this long, with all connections waiting for the next answer all the time.</param>
/// <param name="TailMs">99 of 100 took at most this long.</param>
/// <param name="CpuUs">Processor time of the service for a request, in microseconds.</param>
/// <param name="QueriesPerRequest">What its database was asked.</param>
/// <param name="BytesAllocatedPerRequest">Managed memory.</param>
internal sealed record ServiceFigure(
    string Subject, double RequestsPerSecond, double MedianMs, double TailMs, double CpuUs, double QueriesPerRequest, double BytesAllocatedPerRequest);
