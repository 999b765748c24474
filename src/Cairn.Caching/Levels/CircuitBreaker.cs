using Cairn.Caching.Timing;

namespace Cairn.Caching.Levels;

// Stops calls to a second level that does not work.
//
//            N failures in a row                      the time is over: one call may pass
//   Closed ----------------------> Open (first break) --------------------------------> Probing
//     ^                            ^ |  doubled, up to the longest; with jitter            |  |
//     |                            +-|------------------- the probe fails -----------------+  |
//     +------------------------------|--------------------- the probe succeeds ---------------+
//     |                            ^ | the level reports that it works
//     |                  a failure | v
//     +--- a success ------------ Trial
//
//   I1  While the circuit is open no call passes; while it is probing only the probe passes. In a trial all calls pass: calls that are made at the
//       same time after an outage would otherwise do without the second level, and without its leases.
//   I2  Every admitted call reports exactly once: success, failure, or that nothing was learnt.
internal sealed class CircuitBreaker(DistributedLevelOptions options)
{
    private readonly Lock _gate = new();
    private readonly MonotonicClock _clock = new(options.Clock);

    // False if the circuit is closed without failures: the fast path, without a lock. A stale read admits a call or misses one failure.
    private volatile bool _isTroubled;
    private int _failures;
    private bool _isOpen;
    private bool _isProbing;
    private bool _wasOnTrial;
    private long _openUntil;
    private long _probeAt;
    private long _breakMs;

    /// <summary>False if the circuit is closed and no call has failed since: then calls pass and need not be reported.</summary>
    public bool IsTroubled => _isTroubled;

    /// <summary>True while the circuit is open and its time is not over, or while it is probing.</summary>
    public bool IsOpen => _isTroubled && IsOpenNow();

    /// <summary>Milliseconds until a call may pass; 0 if it may pass now.</summary>
    public long WaitMs
    {
        get
        {
            lock (_gate)
            {
                return _isOpen ? Math.Max(_isProbing ? 1 : 0, _probeAt - _clock.NowMs) : 0;
            }
        }
    }

    /// <summary>Returns true if a call may be made; its outcome must then be reported.</summary>
    /// <param name="isProbe">True if the call is the probe, which tests whether the level works again.</param>
    public bool TryEnter(out bool isProbe)
    {
        isProbe = false;
        if (!_isTroubled)
        {
            return true;
        }

        lock (_gate)
        {
            if (!_isOpen)
            {
                return true;
            }

            if (_isProbing || _clock.NowMs < _probeAt)
            {
                return false;
            }

            return isProbe = _isProbing = true;
        }
    }

    /// <summary>Reports that a call succeeded.</summary>
    public void OnSuccess(bool isProbe)
    {
        if (!_isTroubled)
        {
            return;
        }

        lock (_gate)
        {
            // A call that began before the circuit opened does not show that the level works now.
            if (_isOpen && !isProbe)
            {
                return;
            }

            _failures = 0;
            _isOpen = false;
            _isProbing = false;
            _wasOnTrial = false;
            _breakMs = 0;
            _isTroubled = false;
        }
    }

    /// <summary>Reports that a call threw or was abandoned.</summary>
    /// <returns>True if this report opened the circuit, for the first time or again.</returns>
    public bool OnFailure(bool isProbe)
    {
        lock (_gate)
        {
            _isTroubled = true;
            if (_isOpen ? !isProbe : ++_failures < options.BreakAfterFailures)
            {
                return false;
            }

            long longestMs = (long)options.MaxBreak.TotalMilliseconds;
            _breakMs = _breakMs == 0 ? Math.Min((long)options.MinBreak.TotalMilliseconds, longestMs) : Math.Min(_breakMs * 2, longestMs);

            // Up to a fifth less, so that many processes do not call a recovering server at the same moment.
            _probeAt = _openUntil = _clock.NowMs + (long)(_breakMs * (1 - (0.2 * options.Jitter())));
            _isOpen = true;
            _isProbing = false;
            return true;
        }
    }

    /// <summary>
    /// Ends the wait, because the level reports that it works. Calls pass on trial, and the first failure opens the circuit again. A level that reports
    /// that it works although calls fail gets a probe for each report, and the next trial after the break.
    /// </summary>
    public void EndBreak()
    {
        if (!_isTroubled)
        {
            return;
        }

        lock (_gate)
        {
            if (_isOpen && _wasOnTrial && _clock.NowMs < _openUntil)
            {
                _probeAt = Math.Min(_probeAt, _clock.NowMs);
            }
            else if (_isOpen)
            {
                (_isOpen, _isProbing, _wasOnTrial) = (false, false, true);
                _failures = options.BreakAfterFailures - 1;
            }
        }
    }

    /// <summary>Reports that the call was abandoned before it ended: the next call may be the probe.</summary>
    public void OnNothingLearnt(bool isProbe)
    {
        if (isProbe)
        {
            lock (_gate)
            {
                _isProbing = false;
            }
        }
    }

    private bool IsOpenNow()
    {
        lock (_gate)
        {
            return _isOpen && (_isProbing || _clock.NowMs < _probeAt);
        }
    }
}
