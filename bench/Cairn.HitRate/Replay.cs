using System.Runtime.InteropServices;
using Cairn.HitRate.Policies;
using Cairn.HitRate.Traces;

namespace Cairn.HitRate;

/// <summary>The result of a policy that starts empty and receives all requests of a trace.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct Replay(long Requests, long Hits, double ByteHitRatio)
{
    public double HitRatio => Requests == 0 ? 0 : (double)Hits / Requests;

    /// <summary>Gets the hit ratio in percent.</summary>
    public double HitPercent => 100 * HitRatio;

    /// <summary>Gets the share of the requested bytes that were hits, in percent. The same as <see cref="HitPercent"/> for a trace without sizes.</summary>
    public double ByteHitPercent => 100 * ByteHitRatio;

    public static Replay Run(ICachePolicy policy, Trace trace)
    {
        var hits = 0L;
        var bytes = 0L;
        var hitBytes = 0L;
        foreach (var key in trace.Requests)
        {
            long size = trace.Sizes.Length > 0 ? trace.Sizes[key] : 1;
            bytes += size;
            if (policy.Request(key))
            {
                hits++;
                hitBytes += size;
            }
        }

        return new Replay(trace.Requests.Length, hits, bytes == 0 ? 0 : (double)hitBytes / bytes);
    }
}
