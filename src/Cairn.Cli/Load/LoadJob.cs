using System.Diagnostics;

namespace Cairn.Cli.Load;

/// <summary>A part of the work that all workers share: how many requests are left, and when they are due.</summary>
internal sealed class LoadJob
{
    private readonly long _requests;
    private long _taken;
    private volatile bool _isStopping;

    /// <summary>A job that begins now.</summary>
    /// <param name="step">What its requests are for.</param>
    /// <param name="requests">How many; null for as many as there are until it is stopped.</param>
    /// <param name="pipeline">Requests under way on each connection.</param>
    /// <param name="requestsPerSecond">How many are due in a second; null if each is due when the ones before are answered.</param>
    public LoadJob(LoadStep step, long? requests, int pipeline, double? requestsPerSecond)
    {
        Step = step;
        _requests = requests ?? long.MaxValue;
        Pipeline = pipeline;
        RequestsPerSecond = requestsPerSecond;
        StartedAt = Now;
    }

    /// <summary>Nanoseconds of a clock that only goes forward.</summary>
    public static long Now => Stopwatch.Frequency == 1_000_000_000
        ? Stopwatch.GetTimestamp()
        : (long)((Int128)Stopwatch.GetTimestamp() * 1_000_000_000 / Stopwatch.Frequency);

    public LoadStep Step { get; }

    public int Pipeline { get; }

    public double? RequestsPerSecond { get; }

    public long StartedAt { get; }

    /// <summary>No more requests; those under way are still answered.</summary>
    public bool IsStopping => _isStopping;

    public long Requests => _requests;

    public long Taken => Math.Min(Volatile.Read(ref _taken), _requests);

    public void Stop() => _isStopping = true;

    /// <summary>Claims requests.</summary>
    /// <param name="wanted">How many at most.</param>
    /// <param name="first">The number of the first of them within the job; they are in a row.</param>
    /// <returns>How many; 0 when the job has no more.</returns>
    public int Take(int wanted, out long first)
    {
        first = 0;
        if (_isStopping)
        {
            return 0;
        }

        if (_requests == long.MaxValue)
        {
            // Nobody counts, so the workers need not meet here.
            return wanted;
        }

        first = Interlocked.Add(ref _taken, wanted) - wanted;
        return (int)Math.Clamp(_requests - first, 0, wanted);
    }
}
