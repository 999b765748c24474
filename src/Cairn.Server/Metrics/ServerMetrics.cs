using Cairn.Server.Exposition;

namespace Cairn.Server.Metrics;

/// <summary>The metrics that a server's workers have recorded. Thread-safe.</summary>
internal sealed class ServerMetrics : IDisposable
{
    private readonly ThreadLocal<RequestRecorder> _recorders;

    public ServerMetrics(TimeProvider? clock = null)
    {
        TimeProvider source = clock ?? TimeProvider.System;
        Keys = new KeySamples(source);
        _recorders = new ThreadLocal<RequestRecorder>(() => new RequestRecorder(SlowLog, source, Keys), trackAllValues: true);
    }

    /// <summary>Gets the log of the latest slow requests, of all protocols.</summary>
    public SlowLog SlowLog { get; } = new();

    /// <summary>Gets the samples of the keys that are requested most, while samples are wanted.</summary>
    public KeySamples Keys { get; }

    /// <summary>Gets the recorder of this thread: that of a worker, or of a session without a worker. A session is created by its worker,
    /// and keeps the recorder.</summary>
    public RequestRecorder OfThisThread => _recorders.Value!;

    /// <summary>Gets the recorders of all workers.</summary>
    public IList<RequestRecorder> Recorders => _recorders.Values;

    /// <summary>Returns the sum of a number over all workers.</summary>
    public long Total(Func<RequestRecorder, long> of) => Recorders.Sum(of);

    /// <summary>Returns the latencies of the requests of some commands over all workers; empty if there were none.</summary>
    public LatencyHistogram LatenciesOf(params ReadOnlySpan<int> commands)
    {
        var total = new LatencyHistogram();
        foreach (RequestRecorder recorder in Recorders)
        {
            foreach (int command in commands)
            {
                if (recorder.Latencies(command) is { } latencies)
                {
                    total.Add(latencies);
                }
            }
        }

        return total;
    }

    public void Dispose() => _recorders.Dispose();
}
