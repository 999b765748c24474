// Checks of passwords against slow hashes, which take up to a second of processor time each. They run on one thread of their own, in the
// order in which they came, and never on a worker (Worker I4): the connection waits, and its worker serves the others.
//
//   Begin --the same password is being checked--> joined --+
//     |                                                    |
//     +--a place is free--> waiting --its turn--> running --> answered, and every connection that waits goes on
//     |
//     +--no place--> refused
//
//   I1  At most MaxChecks passwords wait or run, and at most MaxChecksOfAddress of them began for one address. So strangers cannot take
//       every place from one address, and a wait is bounded.
//   I2  Any number of connections wait for one check: many clients that connect at once with one password cost one check.
//   I3  A check for which no connection waits any more gives its place back, unless it runs.
//
// The thread ends when nothing is left to check, and never keeps the process alive. The lock is held for a few instructions in which
// nothing is waited for.
using System.Net;

namespace Cairn.Server.Resp.Security;

/// <summary>A password that is being checked.</summary>
internal sealed class PasswordCheck(PasswordHash hash, PasswordDigest digest, IPAddress? address)
{
    private volatile int _outcome;

    public PasswordHash Hash => hash;

    public PasswordDigest Digest => digest;

    /// <summary>Where the client is that it began for; null for a Unix socket.</summary>
    public IPAddress? Address => address;

    /// <summary>Has the connections that wait go on. Guarded by the lock of <see cref="PasswordChecks"/>.</summary>
    public List<Action> Waiting { get; } = [];

    /// <summary>Null until it is known. Any thread.</summary>
    public bool? IsRight
    {
        get => _outcome == 0 ? null : _outcome > 0;
        set => _outcome = value == true ? 1 : -1;
    }
}

/// <summary>The passwords that a server checks. Safe from any thread.</summary>
internal sealed class PasswordChecks
{
    /// <summary>Passwords that wait or are checked at once.</summary>
    public const int MaxChecks = 64;

    /// <summary>Of those, passwords from one address.</summary>
    public const int MaxChecksOfAddress = 16;

    private readonly Lock _lock = new();
    private readonly List<PasswordCheck> _checks = []; // The first one runs.
    private bool _isRunning;

    /// <summary>Called by the thread before each check. For tests.</summary>
    public Action? Checking { get; set; }

    /// <summary>Passwords that wait or are being checked.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _checks.Count;
            }
        }
    }

    /// <summary>Has a password checked.</summary>
    /// <param name="hash">What it must match.</param>
    /// <param name="password">The password. A digest is kept, not the password.</param>
    /// <param name="address">Where the client is.</param>
    /// <param name="onDone">Called when it is known, by another thread.</param>
    /// <returns>Null if there is no place (I1).</returns>
    public PasswordCheck? TryBegin(PasswordHash hash, ReadOnlySpan<byte> password, IPAddress? address, Action onDone)
    {
        var digest = PasswordDigest.Of(password);
        lock (_lock)
        {
            PasswordCheck? check = _checks.Find(other => ReferenceEquals(other.Hash, hash) && other.Digest.IsSame(digest));
            if (check is null)
            {
                if (_checks.Count == MaxChecks || _checks.Count(other => Equals(other.Address, address)) == MaxChecksOfAddress)
                {
                    return null;
                }

                check = new PasswordCheck(hash, digest, address);
                _checks.Add(check);
            }

            check.Waiting.Add(onDone);
            if (!_isRunning)
            {
                _isRunning = true;
                new Thread(Run) { Name = "cairn-passwords", IsBackground = true }.Start();
            }

            return check;
        }
    }

    /// <summary>A connection does not wait any more.</summary>
    public void Leave(PasswordCheck check, Action onDone)
    {
        lock (_lock)
        {
            check.Waiting.Remove(onDone);
            if (check.Waiting.Count == 0 && _checks.IndexOf(check) > 0)
            {
                _checks.Remove(check); // I3
            }
        }
    }

    private void Run()
    {
        while (true)
        {
            PasswordCheck check;
            lock (_lock)
            {
                if (_checks.Count == 0)
                {
                    _isRunning = false;
                    return;
                }

                check = _checks[0];
            }

            Checking?.Invoke();
            bool isRight = check.Hash.Matches(check.Digest);
            Action[] waiting;
            lock (_lock)
            {
                check.IsRight = isRight;
                _checks.RemoveAt(0);
                waiting = [.. check.Waiting];
            }

            foreach (Action goOn in waiting)
            {
                goOn();
            }
        }
    }
}
