using System.Collections.Concurrent;
using Cairn.Server.Buffers;

namespace Cairn.Server.Resp.PubSub;

/// <summary>A channel and a message on their way to several clients. After the last client has received it, a short one is reused and a
/// long one is freed.</summary>
internal sealed class PublishedMessage
{
    private const int ShortestBytes = 256;

    // Longer messages are not worth keeping. More messages than these are never in transit at the same time.
    private const int KeptBytes = 16 << 10;
    private const int KeptMessages = 256;

    // The approximate size of a message's heap objects without its block.
    private const int ObjectBytes = 128;

    private static readonly ConcurrentQueue<PublishedMessage> s_free = new();

    private Block? _block;
    private MemoryAccount? _account;
    private int _channelBytes;
    private int _messageBytes;
    private int _holders;

    private PublishedMessage()
    {
    }

    public ReadOnlySpan<byte> Channel => Content[.._channelBytes];

    public ReadOnlySpan<byte> Message => Content[_channelBytes..];

    /// <summary>Gets the number of bytes of both.</summary>
    public int Bytes => _channelBytes + _messageBytes;

    private Span<byte> Content => _block!.Span[..Bytes];

    /// <summary>Gets the memory that the message uses. A short message uses much more than its bytes.</summary>
    public int Cost => _block!.Length + ObjectBytes;

    /// <summary>Copies a channel and a message. The account counts the copy. The caller is a holder until it calls
    /// <see cref="Release"/>.</summary>
    public static PublishedMessage Rent(ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message, MemoryAccount account)
    {
        PublishedMessage rented = s_free.TryDequeue(out PublishedMessage? free) ? free : new PublishedMessage();
        int length = channel.Length + message.Length;
        if (rented._block is null || rented._block.Length < length)
        {
            rented._block?.Free();
            rented._block = new Block(Math.Max(length, ShortestBytes));
        }

        rented._channelBytes = channel.Length;
        rented._messageBytes = message.Length;
        rented._holders = 1;
        rented._account = account;
        account.Add(rented.Cost);
        channel.CopyTo(rented.Content);
        message.CopyTo(rented.Content[channel.Length..]);
        return rented;
    }

    /// <summary>Adds a holder. Called by a thread that already holds the message.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>Removes a holder. Thread-safe.</summary>
    public void Release()
    {
        if (Interlocked.Decrement(ref _holders) != 0)
        {
            return;
        }

        _account!.Add(-Cost);
        _account = null;
        if (_block!.Length <= KeptBytes && s_free.Count < KeptMessages)
        {
            s_free.Enqueue(this);
            return;
        }

        _block.Free();
        _block = null;
    }
}
