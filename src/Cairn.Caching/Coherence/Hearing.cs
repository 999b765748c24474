using Cairn.Caching.Levels;

namespace Cairn.Caching.Coherence;

// What is known of whether this process hears of the changes that other machines make.
//
//   I1  Of every change that others made before the moment that was proven last, this process was told: one by one, or that it missed
//       some (OnMissed).
//   I2  What is held here is trusted until the time of trust has passed since that moment. Nothing is trusted before a first proof.
//
// Where there are no others, or none that could be heard, everything counts as proven.
internal sealed class Hearing
{
    // Clocks tick in steps, and a moment is taken a little after what it stands for.
    private const long ToleranceMs = 20;

    private readonly MonotonicClock _clock;
    private readonly long _since;
    private readonly bool _isNeeded;
    private long _provenMs = long.MinValue;

    /// <summary>Creates it at the beginning of the process' interest.</summary>
    /// <param name="isNeeded">False if changes of others are not heard of: there are none, or nothing tells of them.</param>
    /// <param name="options">Times.</param>
    public Hearing(bool isNeeded, DistributedLevelOptions options)
    {
        _isNeeded = isNeeded;
        _clock = new(options.Clock);
        TrustMs = (long)options.TrustAfterHeartbeat.TotalMilliseconds;
        _since = _clock.NowMs;
    }

    /// <summary>The longest for which a change that was made elsewhere may be unknown, in milliseconds.</summary>
    public long TrustMs { get; }

    /// <summary>True if no change that was made elsewhere is unknown for longer than allowed (I2).</summary>
    public bool IsTrusted => !_isNeeded || IsWithinTrust(Volatile.Read(ref _provenMs));

    /// <summary>True if nothing is heard for longer than allowed; false while the first proof may be on its way.</summary>
    public bool IsCutOff
    {
        get
        {
            long proven = Volatile.Read(ref _provenMs);
            return _isNeeded && !IsWithinTrust(proven == long.MinValue ? _since : proven);
        }
    }

    /// <summary>The present, as the moments of this are told.</summary>
    public long NowMs => _clock.NowMs;

    /// <summary>True if all that others did until a moment, and a little longer, was told (I1).</summary>
    public bool IsProven(long moment) => !_isNeeded || Volatile.Read(ref _provenMs) > moment + ToleranceMs;

    /// <summary>All that others did before this much ago was told. Not called by two threads at once.</summary>
    public void Prove(TimeSpan age) =>
        Volatile.Write(ref _provenMs, Math.Max(_provenMs, _clock.NowMs - Math.Max(0, (long)age.TotalMilliseconds)));

    // A read that is late trusts or distrusts by one heartbeat too long; a heartbeat is news of the past anyway.
    private bool IsWithinTrust(long proven) => proven != long.MinValue && _clock.NowMs < proven + TrustMs;
}
