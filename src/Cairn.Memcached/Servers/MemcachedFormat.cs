using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

/// <summary>The memcached text protocol. The whole response to a get, from the first value to END, counts as one reply.</summary>
internal sealed class MemcachedFormat : WireFormat
{
    private int _neededBytes;

    public override string Name => "reply of memcached";

    public override int NeededBytes => _neededBytes;

    public override ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes)
    {
        int position = 0;
        while (true)
        {
            ParseStatus status = MemcachedReplyReader.TryRead(input[position..], out MemcachedReply reply, out int consumed);
            if (status != ParseStatus.Complete)
            {
                replyBytes = 0;
                _neededBytes = status == ParseStatus.IncompleteValue ? position + (int)reply.TotalBytes : input.Length + 1;
                return status == ParseStatus.Fatal ? status : ParseStatus.Incomplete;
            }

            position += consumed;
            if (reply.Kind != MemcachedReplyKind.Value)
            {
                replyBytes = position;
                return status;
            }
        }
    }
}
