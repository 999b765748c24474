// Lets one message per minute through for each address and listener, in bounded memory.
//
//   I1  The same address and listener pass at most once in QuietMs.
//   I2  At most MostAddresses are remembered. While all of them are recent, further addresses are only counted. The next message
//       reports the count.
using System.Net;
using Cairn.Server.Timing;

namespace Cairn.Server.Connections;

/// <summary>Limits the rate of messages about an address. Thread-safe.</summary>
internal sealed class AddressLimiter(TimeProvider clock)
{
    /// <summary>The maximum number of addresses that are remembered at the same time.</summary>
    public const int MostAddresses = 256;

    private const long QuietMs = 60_000;

    private readonly Lock _lock = new();
    private readonly Dictionary<(IPAddress? Address, string Listener), long> _toldAt = [];
    private long _untold;

    /// <summary>Gets the number of addresses that are remembered now.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _toldAt.Count;
            }
        }
    }

    /// <summary>Returns whether to log a message about this address now.</summary>
    /// <param name="address">The client's address; null for clients of a Unix socket, which count as one address.</param>
    /// <param name="listener">The name of the listener that the client connected to.</param>
    /// <param name="untold">The number of addresses that were not remembered since the last message.</param>
    public bool MayTell(IPAddress? address, string listener, out long untold)
    {
        long now = clock.GetTimestampMs();
        lock (_lock)
        {
            untold = 0;
            if (_toldAt.TryGetValue((address, listener), out long toldAt) && now - toldAt < QuietMs)
            {
                return false; // I1
            }

            if (_toldAt.Count >= MostAddresses && !ForgetOld(now))
            {
                _untold++; // I2
                return false;
            }

            _toldAt[(address, listener)] = now;
            (untold, _untold) = (_untold, 0);
            return true;
        }
    }

    private bool ForgetOld(long now)
    {
        foreach (((IPAddress? Address, string Listener) client, long toldAt) in _toldAt)
        {
            if (now - toldAt >= QuietMs)
            {
                _toldAt.Remove(client);
            }
        }

        return _toldAt.Count < MostAddresses;
    }
}
