using System.Collections.Concurrent;

namespace Cairn.Server.Resp.PubSub;

/// <summary>A channel and a message on their way to several clients; it is used again when the last of them has it.</summary>
internal sealed class PublishedMessage
{
    // What is longer is not worth keeping, nor are more than are ever under way at a time.
    private const int KeptBytes = 16 << 10;
    private const int KeptMessages = 256;

    private static readonly ConcurrentQueue<PublishedMessage> s_free = new();

    private byte[] _bytes = [];
    private int _channelBytes;
    private int _messageBytes;
    private int _holders;

    private PublishedMessage()
    {
    }

    public ReadOnlySpan<byte> Channel => _bytes.AsSpan(0, _channelBytes);

    public ReadOnlySpan<byte> Message => _bytes.AsSpan(_channelBytes, _messageBytes);

    /// <summary>Takes copies. The caller is a holder, until it calls <see cref="Release"/>.</summary>
    public static PublishedMessage Rent(ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        PublishedMessage rented = s_free.TryDequeue(out PublishedMessage? free) ? free : new PublishedMessage();
        int length = channel.Length + message.Length;
        if (rented._bytes.Length < length)
        {
            rented._bytes = GC.AllocateUninitializedArray<byte>(Math.Max(length, 256));
        }

        channel.CopyTo(rented._bytes);
        message.CopyTo(rented._bytes.AsSpan(channel.Length));
        rented._channelBytes = channel.Length;
        rented._messageBytes = message.Length;
        rented._holders = 1;
        return rented;
    }

    /// <summary>Counts one holder more. Any thread that holds it.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>Counts one holder less. Any thread.</summary>
    public void Release()
    {
        if (Interlocked.Decrement(ref _holders) == 0 && _bytes.Length <= KeptBytes && s_free.Count < KeptMessages)
        {
            s_free.Enqueue(this);
        }
    }
}
