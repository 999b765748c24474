namespace Cairn.Benchmarks.Reporting;

/// <summary>The medians of a service under load over its rounds.</summary>
/// <param name="Subject">The way in which requests were served.</param>
/// <param name="RequestsPerSecond">The number of requests per second that one core served.</param>
/// <param name="MedianMs">The median latency in milliseconds, while every connection always waits for a reply.</param>
/// <param name="TailMs">The 99th percentile of the latency in milliseconds.</param>
/// <param name="CpuUs">The processor time of the service per request, in microseconds.</param>
/// <param name="QueriesPerRequest">The number of database queries per request.</param>
/// <param name="BytesAllocatedPerRequest">The managed memory allocated per request, in bytes.</param>
internal sealed record ServiceFigure(
    string Subject, double RequestsPerSecond, double MedianMs, double TailMs, double CpuUs, double QueriesPerRequest, double BytesAllocatedPerRequest);
