using System.Runtime.InteropServices;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;

namespace Cairn.HitRate;

/// <summary>The result of a policy that starts empty and receives all requests of a trace.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct Replay(long Requests, long Hits)
{
    public double HitRatio => Requests == 0 ? 0 : (double)Hits / Requests;

    /// <summary>Gets the hit ratio in percent.</summary>
    public double HitPercent => 100 * HitRatio;

    public static Replay Run(ICachePolicy policy, Trace trace)
    {
        var hits = 0L;
        foreach (var key in trace.Requests)
        {
            if (policy.Request(key))
            {
                hits++;
            }
        }

        return new Replay(trace.Requests.Length, hits);
    }
}
