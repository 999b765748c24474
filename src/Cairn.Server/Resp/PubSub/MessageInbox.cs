// The messages that wait for a client. Any thread adds messages, and the worker of the connection takes them.
//
//   M1  Between two emptyings, the worker is asked at most once to empty the inbox. The methods only answer that it must be asked, because the caller
//       asks it outside the lock.
//   M2  The client holds the memory of each message in the inbox, and of no other.
using Cairn.Server.Connections;

namespace Cairn.Server.Resp.PubSub;

/// <summary>What became of a message to a client.</summary>
internal enum Delivery
{
    /// <summary>The worker already has a reason to empty the inbox.</summary>
    Waits,

    /// <summary>The message waits, and the caller must ask the worker to empty the inbox.</summary>
    WaitsForPost,

    /// <summary>The inbox has no room or is closed. The caller still holds the message.</summary>
    Refused,
}

/// <summary>The messages from other connections that wait for a client. Thread-safe.</summary>
/// <param name="held">The memory of the client.</param>
internal sealed class MessageInbox(HeldMemory held)
{
    /// <summary>The memory of an item without its message.</summary>
    public const int ItemBytes = 32;

    private const int KeptItems = 64;

    private readonly Lock _gate = new();
    private readonly Queue<InboxItem> _items = new();
    private long _bytes;
    private bool _isClosed;
    private bool _isPosted; // M1

    /// <summary>Adds a message. Unless it is refused, the inbox is a holder of the message in place of the caller.</summary>
    /// <param name="item">The message.</param>
    /// <param name="maxBytes">The limit of all waiting messages, in bytes.</param>
    public Delivery Add(InboxItem item, long maxBytes)
    {
        long bytes = item.Message.Bytes + ItemBytes;
        lock (_gate)
        {
            if (_isClosed || _bytes + bytes > maxBytes)
            {
                return Delivery.Refused;
            }

            // If memory is used up, the worker also processes a waiting client, because that client may hold most of the memory.
            bool mustPost = !_isPosted && (_items.Count == 0 || held.Account.IsHeldExceeded);
            _isPosted |= mustPost;
            _items.Enqueue(item);
            _bytes += bytes;
            held.CountMessage(item.Message.Cost, ItemBytes);
            return mustPost ? Delivery.WaitsForPost : Delivery.Waits;
        }
    }

    /// <summary>Begins to empty the inbox. A message that arrives from now on may need another post.</summary>
    public void BeginEmptying()
    {
        lock (_gate)
        {
            _isPosted = false;
        }
    }

    /// <summary>Takes the oldest message. The caller is then its holder. Returns false if there is none.</summary>
    public bool TryTake(out InboxItem item)
    {
        lock (_gate)
        {
            if (!_items.TryDequeue(out item))
            {
                if (_items.Capacity > KeptItems)
                {
                    _items.TrimExcess();
                }

                return false;
            }

            _bytes -= item.Message.Bytes + ItemBytes;
            held.CountMessage(-item.Message.Cost, -ItemBytes);
            return true;
        }
    }

    /// <summary>Returns whether messages wait and the caller must ask the worker to empty the inbox.</summary>
    public bool NeedsPost()
    {
        lock (_gate)
        {
            bool mustPost = !_isPosted && _items.Count > 0;
            _isPosted |= mustPost;
            return mustPost;
        }
    }

    /// <summary>Releases the messages, and refuses all later ones.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            while (_items.TryDequeue(out InboxItem item))
            {
                held.CountMessage(-item.Message.Cost, -ItemBytes);
                item.Message.Release();
            }

            _bytes = 0;
            _items.TrimExcess();
        }
    }
}
