using Cairn.Clients.Connections;

namespace Cairn.Memcached.Servers;

/// <summary>A call whose reply is memcached's.</summary>
internal sealed class MemcachedCall : ReplyCall<MemcachedAnswer>
{
    private System.Buffers.IBufferWriter<byte>? _destination;

    /// <summary>Returns a call.</summary>
    /// <param name="destination">The buffer for a value; null to discard it.</param>
    /// <param name="connection">The connection that sends the request.</param>
    /// <param name="timeout">The time limit of the call.</param>
    public static MemcachedCall Rent(System.Buffers.IBufferWriter<byte>? destination, ServerConnection connection, TimeSpan timeout)
    {
        MemcachedCall call = CallPool<MemcachedCall>.Rent();
        call._destination = destination;
        call.Completions = connection.Completions;
        call.Start(Environment.TickCount64, Math.Max(1, (long)timeout.TotalMilliseconds));
        return call;
    }

    protected override MemcachedAnswer Read(ReadOnlySpan<byte> reply) => MemcachedAnswer.Read(reply, _destination);

    protected override void Recycle()
    {
        base.Recycle();
        _destination = null;
        CallPool<MemcachedCall>.Return(this);
    }
}
