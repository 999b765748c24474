using System.Diagnostics;

namespace Cairn.Soak.Load;

/// <summary>Schedules the requests of a client, so that its rate does not depend on the speed of the server.</summary>
internal sealed class Pace(double perSecond)
{
    // A schedule that is further behind starts again from now. This happens when the server was killed or the machine stood still.
    private static readonly long MostBehind = Stopwatch.Frequency;

    private readonly long _interval = (long)(Stopwatch.Frequency / perSecond);
    private long _next = Stopwatch.GetTimestamp();

    /// <summary>Waits until the next request is due.</summary>
    /// <returns>The time at which the request was due, or the present time if the wait ended a moment early.</returns>
    public long Wait(CancellationToken stop)
    {
        long due = _next;
        long now = Stopwatch.GetTimestamp();
        if (now - due > MostBehind)
        {
            due = now;
        }

        _next = due + _interval;
        if (due > now)
        {
            stop.WaitHandle.WaitOne(Stopwatch.GetElapsedTime(now, due));
        }

        return Math.Min(due, Stopwatch.GetTimestamp());
    }
}
