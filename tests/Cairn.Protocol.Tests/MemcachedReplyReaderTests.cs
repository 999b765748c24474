namespace Cairn.Protocol;

public class MemcachedReplyReaderTests
{
    public static TheoryData<string, string> Replies => new()
    {
        { "VALUE a 0 5\r\nhello\r\n", "Value key=a value=hello" },
        { "VALUE a 4294967295 0\r\n\r\n", "Value key=a flags=4294967295 value=" },
        { "VALUE a 1 2 77\r\n\r\n\r\n", "Value key=a flags=1 version=77 value=\r\n" },
        { "END\r\n", "End" },
        { "STORED\r\n", "Stored" },
        { "NOT_STORED\r\n", "NotStored" },
        { "EXISTS\r\n", "Exists" },
        { "NOT_FOUND\r\n", "NotFound" },
        { "DELETED\r\n", "Deleted" },
        { "TOUCHED\r\n", "Touched" },
        { "OK\r\n", "Ok" },
        { "RESET\r\n", "Reset" },
        { "18446744073709551615\r\n", "Number text=18446744073709551615 number=-1" },
        { "5  \r\n", "Number text=5   number=5" },
        { "5 6\r\n", "Text text=5 6" },
        { "VERSION 1.6.18\r\n", "Version text=1.6.18" },
        { "STAT threads 4\r\n", "Stat key=threads text=4" },
        { "STAT libevent \r\n", "Stat key=libevent" },
        { "STAT alone\r\n", "Stat key=alone" },
        { "ERROR\r\n", "Error" },
        { "ERROR with a text\r\n", "Error text=with a text" },
        { "CLIENT_ERROR bad data chunk\r\n", "ClientError text=bad data chunk" },
        { "SERVER_ERROR out of memory\r\n", "ServerError text=out of memory" },
        { "HD\r\n", "Meta Done" },
        { "HD O1 ka c7\r\n", "Meta Done O1 ka c7" },
        { "VA 5\r\nhello\r\n", "Meta Value value=hello" },
        { "VA 5 t-1 c7\r\nhello\r\n", "Meta Value t-1 c7 value=hello" },
        { "EN\r\n", "Meta Miss" },
        { "NS\r\n", "Meta NotStored" },
        { "EX\r\n", "Meta Exists" },
        { "NF\r\n", "Meta NotFound" },
        { "MN\r\n", "Meta Noop" },
        { "ME a exp=-1 la=5\r\n", "MetaDebug key=a text=exp=-1 la=5" },
        { "key=a exp=-1\r\n", "Text text=key=a exp=-1" },
        { "BUSY currently processing\r\n", "Text text=BUSY currently processing" },
        { "\r\n", "Text" },
    };

    public static TheoryData<string> Broken =>
    [
        "VALUE a 0\r\n", "VALUE a 0 -1\r\n", "VALUE a x 5\r\n", "VALUE a 0 5 x\r\n", "VALUE a 4294967296 5\r\n",
        "VALUE a 0 2147483646\r\n", "VALUE a 0 1 2 3\r\n", "VALUE a 0 1\r\nxyz\r\n", "VA\r\n", "VA x\r\n", "VA -5\r\n", "VA 1\r\nx\n\r\n",
    ];

    [Theory]
    [MemberData(nameof(Replies))]
    public void Reply_is_read(string input, string expected)
    {
        var bytes = Latin.Bytes(input + "END\r\n");

        var status = MemcachedReplyReader.TryRead(bytes, out var reply, out int consumed);

        Assert.Equal(expected, MemcachedText.Of(status, reply, bytes));
        Assert.Equal(input.Length, consumed);
        Assert.Equal(input.Length, reply.TotalBytes);
    }

    [Theory]
    [MemberData(nameof(Replies))]
    public void Reply_cut_anywhere_is_incomplete_and_then_read_as_in_one_piece(string input, string expected)
    {
        var bytes = Latin.Bytes(input);

        for (int cut = 0; cut < bytes.Length; cut++)
        {
            var status = MemcachedReplyReader.TryRead(bytes.AsSpan(0, cut), out var reply, out int consumed);

            Assert.Equal(0, consumed);
            if (status == ParseStatus.IncompleteValue)
            {
                Assert.Equal(bytes.Length, reply.TotalBytes);
                continue;
            }

            Assert.Equal(ParseStatus.Incomplete, status);
            status = MemcachedReplyReader.TryRead(bytes, out reply, out _, searchedBytes: cut);
            Assert.Equal(expected, MemcachedText.Of(status, reply, bytes));
        }
    }

    [Theory]
    [MemberData(nameof(Broken))]
    public void Broken_reply_is_fatal(string input) =>
        Assert.Equal(ParseStatus.Fatal, MemcachedReplyReader.TryRead(Latin.Bytes(input), out _, out _));

    [Fact]
    public void Line_is_no_longer_than_the_caller_allows()
    {
        var line = Latin.Bytes(new string('x', 101) + "\n");

        Assert.Equal(ParseStatus.Complete, MemcachedReplyReader.TryRead(line, out _, out _, maxLineBytes: 101));
        Assert.Equal(ParseStatus.Incomplete, MemcachedReplyReader.TryRead(line.AsSpan(0, 100), out _, out _, maxLineBytes: 100));
        Assert.Equal(ParseStatus.Fatal, MemcachedReplyReader.TryRead(line, out _, out _, maxLineBytes: 100));
        Assert.Equal(ParseStatus.Fatal, MemcachedReplyReader.TryRead(line.AsSpan(0, 101), out _, out _, maxLineBytes: 100));
    }
}
