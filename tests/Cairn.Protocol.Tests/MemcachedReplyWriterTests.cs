namespace Cairn.Protocol;

public class MemcachedReplyWriterTests
{
    private delegate void Write(ref MemcachedReplyWriter writer);

    [Fact]
    public void Replies_are_in_the_words_of_memcached()
    {
        Check("STORED\r\n", (ref w) => w.WriteStored());
        Check("NOT_STORED\r\n", (ref w) => w.WriteNotStored());
        Check("EXISTS\r\n", (ref w) => w.WriteExists());
        Check("NOT_FOUND\r\n", (ref w) => w.WriteNotFound());
        Check("DELETED\r\n", (ref w) => w.WriteDeleted());
        Check("TOUCHED\r\n", (ref w) => w.WriteTouched());
        Check("OK\r\n", (ref w) => w.WriteOk());
        Check("END\r\n", (ref w) => w.WriteEnd());
        Check("RESET\r\n", (ref w) => w.WriteReset());
        Check("VERSION 1.6.18\r\n", (ref w) => w.WriteVersion("1.6.18"u8));
        Check("18446744073709551615\r\n", (ref w) => w.WriteNumber(ulong.MaxValue));
        Check("0\r\n", (ref w) => w.WriteNumber(0));
        Check("ERROR\r\n", (ref w) => w.WriteError(MemcachedError.UnknownCommand));
        Check("", (ref w) => w.WriteError(MemcachedError.BinaryProtocol));
        Check("CLIENT_ERROR no\r\n", (ref w) => w.WriteClientError("no"u8));
        Check("SERVER_ERROR busy\r\n", (ref w) => w.WriteServerError("busy"u8));
        Check("STAT threads 4\r\n", (ref w) => w.WriteStat("threads"u8, 4));
        Check("STAT version 1.6.18\r\n", (ref w) => w.WriteStat("version"u8, "1.6.18"u8));
        Check("key=a exp=-1\r\n", (ref w) => w.WriteLine("key=a exp=-1"u8));
    }

    [Fact]
    public void Value_comes_with_its_key_flags_and_length()
    {
        Check("VALUE a 0 5\r\nhello\r\n", (ref w) => w.WriteValue("a"u8, 0, "hello"u8));
        Check("VALUE a 4294967295 0\r\n\r\n", (ref w) => w.WriteValue("a"u8, uint.MaxValue, []));
        Check("VALUE a 7 2 18446744073709551615\r\n\r\n\r\n", (ref w) => w.WriteValue("a"u8, 7, "\r\n"u8, ulong.MaxValue));
    }

    [Fact]
    public void Value_can_be_written_in_place_behind_its_line()
    {
        Check("VALUE a 0 3\r\nabc\r\n", (ref w) =>
        {
            w.WriteValueLine("a"u8, 0, 3);
            "abc"u8.CopyTo(w.Reserve(3));
            w.Advance(3);
            w.WriteLineEnd();
        });
    }

    [Fact]
    public void What_was_written_since_a_point_can_be_taken_back()
    {
        Check("END\r\n", (ref w) =>
        {
            w.Reserve(200);
            int before = w.PendingBytes;
            w.WriteValueLine("a"u8, 0, 3);
            w.Rewind(before);
            w.WriteEnd();
        });
    }

    [Fact]
    public void Meta_replies_have_a_code_and_flags()
    {
        Check("HD\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.Done));
        Check("EN\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.Miss));
        Check("NS\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.NotStored));
        Check("EX\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.Exists));
        Check("NF\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.NotFound));
        Check("MN\r\n", (ref w) => w.WriteMeta(MemcachedMetaCode.Noop));
        Check("VA 5 t-1 c18446744073709551615 O12 ka W\r\nhello\r\n", (ref w) =>
        {
            w.BeginMetaValue(5);
            w.WriteFlag('t', -1L);
            w.WriteFlag('c', ulong.MaxValue);
            w.WriteFlag('O', "12"u8);
            w.WriteKeyFlag("a"u8, isBase64: false);
            w.WriteFlag('W');
            w.WriteLineEnd();
            w.WriteData("hello"u8);
        });
        Check("HD kAAEC/w== b\r\n", (ref w) =>
        {
            w.BeginMeta(MemcachedMetaCode.Done);
            w.WriteKeyFlag([0, 1, 2, 255], isBase64: true);
            w.WriteLineEnd();
        });
    }

    [Fact]
    public void Value_longer_than_a_block_goes_into_several()
    {
        var value = TestBytes.Of(1000);
        var output = new BlockWriter(64);
        var writer = new MemcachedReplyWriter(output);

        writer.WriteValue("a"u8, 0, value);
        writer.WriteEnd();
        writer.Flush();

        Assert.Equal(Latin.Bytes($"VALUE a 0 1000\r\n{Latin.Text(value)}\r\nEND\r\n"), output.Written);
    }

    [Fact]
    public void Writing_beyond_a_span_is_an_error()
    {
        var destination = new byte[4];

        Assert.Throws<InvalidOperationException>(() =>
        {
            var writer = new MemcachedReplyWriter(destination);
            writer.WriteStored();
        });
        Assert.Throws<InvalidOperationException>(() =>
        {
            var writer = new MemcachedReplyWriter(destination);
            writer.Reserve(5);
        });
    }

    [Fact]
    public void Advancing_beyond_what_was_reserved_is_an_error() =>
        Assert.Throws<ArgumentOutOfRangeException>(() =>
        {
            var writer = new MemcachedReplyWriter(new byte[4]);
            writer.Reserve(4);
            writer.Advance(5);
        });

    // Writes into a span, and into blocks of every size up to one that holds the whole reply.
    private static void Check(string expected, Write write)
    {
        var destination = new byte[512];
        var toSpan = new MemcachedReplyWriter(destination);
        write(ref toSpan);
        Assert.Equal(expected, Latin.Text(destination.AsSpan(0, toSpan.PendingBytes)));

        for (int blockBytes = 1; blockBytes <= expected.Length; blockBytes++)
        {
            var output = new BlockWriter(blockBytes);
            var toBlocks = new MemcachedReplyWriter(output);
            write(ref toBlocks);
            toBlocks.Flush();
            Assert.Equal(expected, Latin.Text(output.Written));
        }
    }
}
