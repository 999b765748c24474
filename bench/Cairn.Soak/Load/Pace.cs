using System.Diagnostics;

namespace Cairn.Soak.Load;

/// <summary>Tells a client when its next request is due, so that its rate does not depend on how fast the server answers.</summary>
internal sealed class Pace(double perSecond)
{
    // Behind by more than this (the server was killed, the machine stood still), the schedule begins anew.
    private static readonly long MostBehind = Stopwatch.Frequency;

    private readonly long _interval = (long)(Stopwatch.Frequency / perSecond);
    private long _next = Stopwatch.GetTimestamp();

    /// <summary>Waits until the next request is due.</summary>
    /// <returns>When it was due, or now if the wait ended a moment early.</returns>
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
