using Cairn.Caching.Timing;

namespace Cairn.Caching.Coherence;

// Channel liveness: whether the changes of other machines reach this process.
//
//   I1  Every change that other machines made before the last proven moment was delivered to this process: individually, or as a
//       notification that some were missed (OnMissed).
//   I2  Entries in memory are trusted until the time of trust has passed since that moment. Nothing is trusted before the first proof.
//
// If there are no other machines, or no channel that reports their changes, everything counts as proven.
internal sealed class ChannelLiveness
{
    // Clocks advance in steps, and a moment is read slightly after the event that it stands for.
    private const long ToleranceMs = 20;

    private readonly MonotonicClock _clock;
    private readonly long _since;
    private readonly bool _isNeeded;
    private long _provenMs = long.MinValue;

    /// <summary>Creates the liveness of a channel that has not delivered anything yet.</summary>
    /// <param name="isNeeded">False if no changes are delivered, because there are no other machines or no channel.</param>
    /// <param name="clock">The source of time.</param>
    /// <param name="trust">The longest time for which a change by another machine may be unknown.</param>
    public ChannelLiveness(bool isNeeded, TimeProvider clock, TimeSpan trust)
    {
        _isNeeded = isNeeded;
        _clock = new(clock);
        TrustMs = (long)trust.TotalMilliseconds;
        _since = _clock.NowMs;
    }

    /// <summary>The longest time for which a change by another machine may be unknown, in milliseconds.</summary>
    public long TrustMs { get; }

    /// <summary>True if no change by another machine is unknown for longer than allowed (I2).</summary>
    public bool IsTrusted => !_isNeeded || IsWithinTrust(Volatile.Read(ref _provenMs));

    /// <summary>True if the channel has been silent for longer than allowed; false while the first proof may still arrive.</summary>
    public bool IsCutOff
    {
        get
        {
            long proven = Volatile.Read(ref _provenMs);
            return _isNeeded && !IsWithinTrust(proven == long.MinValue ? _since : proven);
        }
    }

    /// <summary>Returns whether all changes of other machines up to a moment, plus a tolerance, were delivered (I1).</summary>
    public bool IsProven(long moment) => !_isNeeded || Volatile.Read(ref _provenMs) > moment + ToleranceMs;

    /// <summary>Records that all changes made before this long ago were delivered. Must not be called by two threads at once.</summary>
    public void Prove(TimeSpan age) =>
        Volatile.Write(ref _provenMs, Math.Max(_provenMs, _clock.NowMs - Math.Max(0, (long)age.TotalMilliseconds)));

    // A stale read is wrong by at most one heartbeat, which is information about the past anyway.
    private bool IsWithinTrust(long proven) => proven != long.MinValue && _clock.NowMs < proven + TrustMs;
}
