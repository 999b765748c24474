// Checks passwords against slow hashes, which take up to a second of processor time each. The checks run on one separate thread, in order
// of arrival, and never on a worker (Worker I4). The connection waits, and its worker serves the others.
//
//   Begin --the same password is being checked--> joined --+
//     |                                                    |
//     +--a place is free--> waiting --its turn--> running --> answered, and every waiting connection continues
//     |
//     +--no place--> refused
//
//   I1  At most MaxChecks passwords wait or run, and at most MaxChecksOfAddress of them began for one address. So clients at one
//       address cannot take every place, and the waiting time is limited.
//   I2  Any number of connections wait for one check. Many clients that connect at once with one password cost one check.
//   I3  A check that no connection waits for any more gives up its place, unless it is running.
//
// The thread ends when no check is left, and never keeps the process alive. The lock is held only for a few instructions, none of which
// waits.
using System.Net;
using Cairn.Platform;

namespace Cairn.Server.Resp.Security;

/// <summary>A password check in progress.</summary>
internal sealed class PasswordCheck(PasswordHash hash, PasswordDigest digest, IPAddress? address)
{
    private volatile int _outcome;

    public PasswordHash Hash => hash;

    public PasswordDigest Digest => digest;

    /// <summary>Gets the address of the client that began the check; null for a Unix socket.</summary>
    public IPAddress? Address => address;

    /// <summary>Gets the actions that resume the waiting connections. Guarded by the lock of <see cref="PasswordChecks"/>.</summary>
    public List<Action> Waiting { get; } = [];

    /// <summary>Gets or sets the result; null until it is known. Thread-safe.</summary>
    public bool? IsRight
    {
        get => _outcome == 0 ? null : _outcome > 0;
        set => _outcome = value == true ? 1 : -1;
    }
}

/// <summary>The password checks of a server. Thread-safe.</summary>
internal sealed class PasswordChecks
{
    /// <summary>The maximum number of passwords that wait or are being checked.</summary>
    public const int MaxChecks = 64;

    /// <summary>The maximum number of them that come from one address.</summary>
    public const int MaxChecksOfAddress = 16;

    private readonly Lock _lock = new();
    private readonly List<PasswordCheck> _checks = []; // The first one is running.
    private bool _isRunning;

    /// <summary>Gets or sets an action that the thread calls before each check. For tests.</summary>
    public Action? Checking { get; set; }

    /// <summary>Gets the number of passwords that wait or are being checked.</summary>
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

    /// <summary>Begins to check a password, or joins a check of the same password.</summary>
    /// <param name="hash">The hash that the password must match.</param>
    /// <param name="password">The password. Only a digest of it is kept.</param>
    /// <param name="address">The client's address.</param>
    /// <param name="onDone">The action that another thread calls when the result is known.</param>
    /// <returns>The check; null if there is no place (I1), or if the system refuses the thread.</returns>
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
            if (!_isRunning && !(_isRunning = BackgroundThread.TryStart("cairn-passwords", Run)))
            {
                _checks.Clear(); // Only this check: others would have a running thread.
                return null;
            }

            return check;
        }
    }

    /// <summary>Removes a connection that no longer waits.</summary>
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
