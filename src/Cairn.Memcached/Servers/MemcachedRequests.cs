using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

/// <summary>Requests with one reply each.</summary>
/// <param name="write">Writes the requests.</param>
/// <param name="replies">The number of requests.</param>
internal readonly struct MemcachedRequests(RequestWriter write, int replies) : IRequest
{
    public int Replies => replies;

    public void WriteTo(RequestBuffer output)
    {
        var writer = new MemcachedRequestWriter(output);
        write(ref writer);
        writer.Flush();
    }
}
