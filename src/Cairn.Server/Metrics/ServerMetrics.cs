namespace Cairn.Server.Metrics;

/// <summary>What a server's workers have recorded. Any thread.</summary>
internal sealed class ServerMetrics : IDisposable
{
    private readonly ThreadLocal<RequestRecorder> _recorders;

    public ServerMetrics(TimeProvider? clock = null)
    {
        TimeProvider source = clock ?? TimeProvider.System;
        Keys = new KeySamples(source);
        _recorders = new ThreadLocal<RequestRecorder>(() => new RequestRecorder(SlowLog, source, Keys), trackAllValues: true);
    }

    /// <summary>The latest requests that took long, of all protocols.</summary>
    public SlowLog SlowLog { get; } = new();

    /// <summary>Which keys are asked for most, while somebody wants to know.</summary>
    public KeySamples Keys { get; }

    /// <summary>The recorder of this thread: a worker's, or that of a session without a worker. Sessions are made by their
    /// worker, and keep what they got.</summary>
    public RequestRecorder OfThisThread => _recorders.Value!;

    /// <summary>Those of all workers.</summary>
    public IList<RequestRecorder> Recorders => _recorders.Values;

    /// <summary>The sum of a number over all workers.</summary>
    public long Total(Func<RequestRecorder, long> of) => Recorders.Sum(of);

    /// <summary>The latencies of a command's requests over all workers; empty if there were none.</summary>
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
