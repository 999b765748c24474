namespace Cairn.Caching.Levels;

// Keeps calls away from a second level that does not work.
//
//            N failures in a row                      the time is over: one call may pass
//   Closed ----------------------> Open (first break) --------------------------------> Probing
//     ^                             ^   doubled, up to the longest; with jitter            |  |
//     |                             +------------------- the probe fails ------------------+  |
//     +--------------------------------------------------- the probe succeeds ----------------+
//
//   I1  While it is open no call passes, and while it is probing only the one.
//   I2  Whoever was let through reports exactly once: success, failure, or that nothing was learnt.
internal sealed class CircuitBreaker(DistributedLevelOptions options)
{
    private readonly Lock _gate = new();
    private readonly MonotonicClock _clock = new(options.Clock);

    // Closed and no failures: nothing else is looked at, and no lock taken. A stale read lets a call pass or counts one failure less.
    private volatile bool _isTroubled;
    private int _failures;
    private bool _isOpen;
    private bool _isProbing;
    private long _openUntil;
    private long _breakMs;

    /// <summary>Closed, or its time is over.</summary>
    public bool IsOpen => _isTroubled && IsOpenNow();

    /// <summary>Milliseconds until a call may pass; 0 if one may.</summary>
    public long WaitMs
    {
        get
        {
            lock (_gate)
            {
                return _isOpen ? Math.Max(_isProbing ? 1 : 0, _openUntil - _clock.NowMs) : 0;
            }
        }
    }

    /// <summary>True if a call may be made, whose outcome must then be reported.</summary>
    /// <param name="isProbe">True if it is the one call that finds out whether the level works again.</param>
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

            if (_isProbing || _clock.NowMs < _openUntil)
            {
                return false;
            }

            return isProbe = _isProbing = true;
        }
    }

    /// <summary>A call worked.</summary>
    public void OnSuccess(bool isProbe)
    {
        if (!_isTroubled)
        {
            return;
        }

        lock (_gate)
        {
            // A call that began before the circuit opened says nothing about now.
            if (_isOpen && !isProbe)
            {
                return;
            }

            _failures = 0;
            _isOpen = false;
            _isProbing = false;
            _breakMs = 0;
            _isTroubled = false;
        }
    }

    /// <summary>A call threw or was given up.</summary>
    /// <returns>True if this opened the circuit, first or again.</returns>
    public bool OnFailure(bool isProbe)
    {
        lock (_gate)
        {
            _isTroubled = true;
            if (_isOpen ? !isProbe : ++_failures < options.BreakAfterFailures)
            {
                return false;
            }

            long longestMs = (long)options.LongestBreak.TotalMilliseconds;
            _breakMs = _breakMs == 0 ? Math.Min((long)options.FirstBreak.TotalMilliseconds, longestMs) : Math.Min(_breakMs * 2, longestMs);

            // Up to a fifth less, so that many processes do not all ask at once a server that comes back.
            _openUntil = _clock.NowMs + (long)(_breakMs * (1 - (0.2 * options.Jitter())));
            _isOpen = true;
            _isProbing = false;
            return true;
        }
    }

    /// <summary>Lets a probe pass now.</summary>
    public void EndBreak()
    {
        lock (_gate)
        {
            _openUntil = Math.Min(_openUntil, _clock.NowMs);
        }
    }

    /// <summary>The caller went away before the call ended: the next call may be the probe.</summary>
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
            return _isOpen && (_isProbing || _clock.NowMs < _openUntil);
        }
    }
}
