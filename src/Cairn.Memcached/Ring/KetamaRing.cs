using System.Net;
using System.Security.Cryptography;

namespace Cairn.Memcached.Ring;

/// <summary>
/// Maps keys to servers with a ring of hashes, on which each server has 160 points. A key belongs to the server of the next point. Adding or
/// removing a server moves only that server's keys. The points are those of libmemcached with ketama hashing and MD5, so other clients find the
/// same entries.
/// </summary>
[SuppressMessage("Security", "CA5351:Do Not Use Broken Cryptographic Algorithms", Justification = "The ring is defined by it; nothing is secured by it.")]
internal sealed class KetamaRing
{
    private const int HashesPerServer = 40;
    private const int PointsPerHash = 4;
    private const int DefaultPort = 11211;

    private readonly (uint Point, int Server)[] _points;
    private readonly int _servers;

    public KetamaRing(IReadOnlyList<EndPoint> servers)
    {
        _servers = servers.Count;
        var points = new List<(uint, int)>(_servers * HashesPerServer * PointsPerHash);
        for (int server = 0; server < _servers; server++)
        {
            string name = NameOf(servers[server]);
            for (int i = 0; i < HashesPerServer; i++)
            {
                byte[] hash = MD5.HashData(Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{name}-{i}")));
                for (int part = 0; part < PointsPerHash; part++)
                {
                    points.Add((BinaryPrimitives.ReadUInt32LittleEndian(hash.AsSpan(part * 4)), server));
                }
            }
        }

        points.Sort();
        _points = [.. points];
    }

    /// <summary>Returns the server of a key, among the available servers.</summary>
    /// <param name="key">The key.</param>
    /// <param name="isThere">Returns whether a server is available. The owner of the key is checked first.</param>
    /// <param name="owner">The server that owns the key when all servers are available.</param>
    /// <returns>The index of the server; -1 if none is available.</returns>
    public int ServerOf(ReadOnlySpan<byte> key, Func<int, bool> isThere, out int owner)
    {
        Span<byte> hash = stackalloc byte[MD5.HashSizeInBytes];
        MD5.HashData(key, hash);
        int first = FirstAtOrAfter(BinaryPrimitives.ReadUInt32LittleEndian(hash));
        owner = _points[first].Server;
        if (isThere(owner))
        {
            return owner;
        }

        Span<bool> isAsked = _servers <= 256 ? stackalloc bool[_servers] : new bool[_servers];
        isAsked.Clear();
        isAsked[owner] = true;
        for (int i = 1; i < _points.Length; i++)
        {
            int server = _points[(first + i) % _points.Length].Server;
            if (!isAsked[server])
            {
                if (isThere(server))
                {
                    return server;
                }

                isAsked[server] = true;
            }
        }

        return -1;
    }

    // libmemcached omits the default port from the name that it hashes.
    private static string NameOf(EndPoint place) => place switch
    {
        DnsEndPoint { Port: DefaultPort } dns => dns.Host,
        DnsEndPoint dns => string.Create(CultureInfo.InvariantCulture, $"{dns.Host}:{dns.Port}"),
        IPEndPoint { Port: DefaultPort } ip => ip.Address.ToString(),
        IPEndPoint ip => string.Create(CultureInfo.InvariantCulture, $"{ip.Address}:{ip.Port}"),
        _ => place.ToString() ?? "",
    };

    private int FirstAtOrAfter(uint point)
    {
        int low = 0;
        int high = _points.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_points[middle].Point < point)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low == _points.Length ? 0 : low;
    }
}
