// Lets one message for each address and listener in a minute through, in bounded memory.
//
//   I1  The same address and listener are told at most once in QuietMs.
//   I2  At most MostAddresses are remembered. While all of them are recent, further addresses are counted, and told with the next message.
using System.Net;

namespace Cairn.Server.Connections;

/// <summary>Limits messages by the address that they are about. Any thread.</summary>
internal sealed class AddressLimiter(TimeProvider clock)
{
    /// <summary>Addresses that are remembered at once.</summary>
    public const int MostAddresses = 256;

    private const long QuietMs = 60_000;

    private readonly Lock _lock = new();
    private readonly Dictionary<(IPAddress? Address, string Listener), long> _toldAt = [];
    private long _untold;

    /// <summary>Addresses that are remembered now.</summary>
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

    /// <summary>Whether to tell of this address now.</summary>
    /// <param name="address">Null for clients of a Unix socket, which count as one.</param>
    /// <param name="listener">Where it connected.</param>
    /// <param name="untold">How many addresses found no place since the last message.</param>
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
