using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Tests.Resp;

/// <summary>The messages that wait for a client (MessageInbox).</summary>
public class MessageInboxTests
{
    private readonly MemoryAccount _account = new(limit: 1 << 20);
    private readonly HeldMemory _held;
    private readonly MessageInbox _inbox;

    public MessageInboxTests()
    {
        _held = new HeldMemory(new BlockPool(_account), replies: null);
        _inbox = new MessageInbox(_held);
    }

    [Fact]
    public void Messages_are_taken_in_the_order_in_which_they_arrived()
    {
        Add("first");
        Add("second");

        Assert.Equal(["first", "second"], TakeAll());
    }

    [Fact]
    public void Worker_is_asked_once_until_it_begins_to_empty_the_inbox()
    {
        Assert.Equal(Delivery.WaitsForPost, Add("a"));
        Assert.Equal(Delivery.Waits, Add("b"));
        Assert.False(_inbox.NeedsPost());

        _inbox.BeginEmptying();

        Assert.True(_inbox.NeedsPost());
        Assert.Equal(Delivery.Waits, Add("c"));
        TakeAll();
        _inbox.BeginEmptying();
        Assert.False(_inbox.NeedsPost());
        Assert.Equal(Delivery.WaitsForPost, Add("d"));
    }

    [Fact]
    public void Worker_of_a_client_that_cannot_continue_is_notified_again_when_memory_is_used_up()
    {
        Add("a");
        _inbox.BeginEmptying(); // The client's reply is not complete, so the message stays.
        Assert.Equal(Delivery.Waits, Add("b"));

        _account.Add(2 << 20);

        Assert.Equal(Delivery.WaitsForPost, Add("c"));
    }

    [Fact]
    public void Message_beyond_the_limit_is_refused_and_fits_after_another_was_taken()
    {
        long limit = 2 * (1 + MessageInbox.ItemBytes);
        Assert.Equal(Delivery.WaitsForPost, Add("a", limit));
        Assert.Equal(Delivery.Waits, Add("b", limit));

        Assert.Equal(Delivery.Refused, Add("c", limit));

        Assert.True(_inbox.TryTake(out InboxItem item));
        item.Message.Release();
        Assert.Equal(Delivery.Waits, Add("c", limit));
        Assert.Equal(["b", "c"], TakeAll());
    }

    [Fact]
    public void Client_holds_the_memory_of_waiting_messages_only()
    {
        long before = _account.Bytes;
        Add("a");
        Add("b");
        Assert.True(_held.Bytes > 2 * MessageInbox.ItemBytes);

        TakeAll();
        Assert.Equal((0, before), (_held.Bytes, _account.Bytes));

        Add("c");
        _inbox.Close();
        Assert.Equal((0, before), (_held.Bytes, _account.Bytes));
        Assert.Equal(Delivery.Refused, Add("d"));
        Assert.Equal((0, before), (_held.Bytes, _account.Bytes));
    }

    private Delivery Add(string text, long limit = long.MaxValue)
    {
        var message = PublishedMessage.Rent(default, Encoding.ASCII.GetBytes(text), _account);
        Delivery delivery = _inbox.Add(new InboxItem(InboxKind.Message, message, null, false), limit);
        if (delivery == Delivery.Refused)
        {
            message.Release();
        }

        return delivery;
    }

    private List<string> TakeAll()
    {
        List<string> texts = [];
        while (_inbox.TryTake(out InboxItem item))
        {
            texts.Add(Encoding.ASCII.GetString(item.Message.Message));
            item.Message.Release();
        }

        return texts;
    }
}
