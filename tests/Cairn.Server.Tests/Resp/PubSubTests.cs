namespace Cairn.Server.Tests.Resp;

/// <summary>Messages between clients.</summary>
public class PubSubTests
{
    [Fact]
    public void Message_reaches_subscribers_of_its_channel_and_of_a_matching_pattern()
    {
        using var host = new RespHost();
        RespClient byName = host.Connect();
        RespClient byPattern = host.Connect();
        RespClient publisher = host.Connect();

        Assert.Equal(
            "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:2\r\n", byName.Run("SUBSCRIBE news other"));
        Assert.Equal("*3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:1\r\n", byPattern.Run("PSUBSCRIBE n*"));
        Assert.Equal(":2\r\n:0\r\n", publisher.Run("PUBLISH news hello", "PUBLISH else hello"));

        Assert.Equal("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n", byName.Take());
        Assert.Equal("*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$5\r\nhello\r\n", byPattern.Take());
    }

    [Fact]
    public void Resp3_client_gets_pushes_and_can_do_everything_else_meanwhile()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("HELLO 3", "SUBSCRIBE news");

        Assert.Equal(
            "+OK\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n:1\r\n", client.Run("SET a 1", "PUBLISH news hello"));
    }

    [Fact]
    public void Message_to_the_client_itself_follows_the_reply_of_EXEC()
    {
        using var host = new RespHost();
        RespClient client = host.Connect();
        client.Run("HELLO 3", "SUBSCRIBE foo", "MULTI", "PING abc", "PUBLISH foo bar", "PING def");

        Assert.Equal("*3\r\n$3\r\nabc\r\n:1\r\n$3\r\ndef\r\n>3\r\n$7\r\nmessage\r\n$3\r\nfoo\r\n$3\r\nbar\r\n", client.Run("EXEC") + client.Take());
    }

    [Fact]
    public void Client_that_left_gets_nothing_and_is_not_counted()
    {
        using var host = new RespHost();
        RespClient subscriber = host.Connect();
        RespClient publisher = host.Connect();
        subscriber.Run("SUBSCRIBE news", "PSUBSCRIBE n*");
        Assert.Equal("*2\r\n$4\r\nnews\r\n:1\r\n:1\r\n", publisher.Run("PUBSUB NUMSUB news", "PUBSUB NUMPAT"));

        subscriber.End();

        Assert.Equal(":0\r\n*0\r\n:0\r\n", publisher.Run("PUBLISH news hello", "PUBSUB CHANNELS", "PUBSUB NUMPAT"));
        Assert.Equal("", subscriber.Take());
    }
}
