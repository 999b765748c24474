using System.Collections.Concurrent;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp.PubSub;

/// <summary>A channel and a message on their way to several clients. A short one is used again when the last of them has it, and a long one
/// is freed then.</summary>
internal sealed class PublishedMessage
{
    private const int ShortestBytes = 256;

    // What is longer is not worth keeping, nor are more than are ever under way at a time.
    private const int KeptBytes = 16 << 10;
    private const int KeptMessages = 256;

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

    /// <summary>Bytes of both.</summary>
    public int Bytes => _channelBytes + _messageBytes;

    private Span<byte> Content => _block!.Span[..Bytes];

    /// <summary>Takes copies, which the account counts. The caller is a holder, until it calls <see cref="Release"/>.</summary>
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
        account.Add(length);
        channel.CopyTo(rented.Content);
        message.CopyTo(rented.Content[channel.Length..]);
        return rented;
    }

    /// <summary>Counts one holder more. Any thread that holds it.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>Counts one holder less. Any thread.</summary>
    public void Release()
    {
        if (Interlocked.Decrement(ref _holders) != 0)
        {
            return;
        }

        _account!.Add(-Bytes);
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
