namespace Cairn.Cli.Load;

/// <summary>A part of the load that all workers share, with the number of remaining requests and their rate.</summary>
internal sealed class LoadJob
{
    private readonly long _requests;
    private long _taken;
    private volatile bool _isStopping;

    /// <summary>Creates a job that begins now.</summary>
    /// <param name="step">The purpose of its requests.</param>
    /// <param name="requests">The number of requests; null for no limit until the job is stopped.</param>
    /// <param name="pipeline">The number of requests without a reply on each connection.</param>
    /// <param name="requestsPerSecond">The rate at which requests are due; null to send when the previous ones are answered.</param>
    public LoadJob(LoadStep step, long? requests, int pipeline, double? requestsPerSecond)
    {
        Step = step;
        _requests = requests ?? long.MaxValue;
        Pipeline = pipeline;
        RequestsPerSecond = requestsPerSecond;
        StartedAt = Now;
    }

    /// <summary>Gets the time of a monotonic clock in nanoseconds.</summary>
    public static long Now => Stopwatch.Frequency == 1_000_000_000
        ? Stopwatch.GetTimestamp()
        : (long)((Int128)Stopwatch.GetTimestamp() * 1_000_000_000 / Stopwatch.Frequency);

    public LoadStep Step { get; }

    public int Pipeline { get; }

    public double? RequestsPerSecond { get; }

    public long StartedAt { get; }

    /// <summary>Gets a value that says whether the job ends. No more requests are built; those without a reply are still awaited.</summary>
    public bool IsStopping => _isStopping;

    public long Requests => _requests;

    public long Taken => Math.Min(Volatile.Read(ref _taken), _requests);

    public void Stop() => _isStopping = true;

    /// <summary>Claims consecutive requests of the job.</summary>
    /// <param name="wanted">The maximum number of requests.</param>
    /// <param name="first">The number of the first claimed request within the job.</param>
    /// <returns>The number of claimed requests; 0 if the job has no more.</returns>
    public int Take(int wanted, out long first)
    {
        first = 0;
        if (_isStopping)
        {
            return 0;
        }

        if (_requests == long.MaxValue)
        {
            // No count is needed, so the workers do not contend for it.
            return wanted;
        }

        first = Interlocked.Add(ref _taken, wanted) - wanted;
        return (int)Math.Clamp(_requests - first, 0, wanted);
    }
}
