namespace Cairn.Protocol;

public class RespWriterTests
{
    private delegate void Write(ref RespWriter writer);

    [Fact]
    public void Types_of_both_versions_are_written_alike()
    {
        Check("+PONG\r\n", (ref w) => w.WriteSimple("PONG"u8));
        Check("+OK\r\n", (ref w) => w.WriteOk());
        Check("-ERR no\r\n", (ref w) => w.WriteError("ERR no"u8));
        Check(":0\r\n", (ref w) => w.WriteInteger(0));
        Check(":9\r\n", (ref w) => w.WriteInteger(9));
        Check(":10\r\n", (ref w) => w.WriteInteger(10));
        Check(":-1\r\n", (ref w) => w.WriteInteger(-1));
        Check(":-9223372036854775808\r\n", (ref w) => w.WriteInteger(long.MinValue));
        Check("$5\r\nhello\r\n", (ref w) => w.WriteBulk("hello"u8));
        Check("$0\r\n\r\n", (ref w) => w.WriteBulk([]));
        Check("$2\r\n-7\r\n", (ref w) => w.WriteBulk(-7));
        Check("*2\r\n:1\r\n:2\r\n", (ref w) =>
        {
            w.WriteArrayHeader(2);
            w.WriteInteger(1);
            w.WriteInteger(2);
        });
        Check("$3\r\nabc\r\n", (ref w) =>
        {
            w.WriteBulkHeader(3);
            "abc"u8.CopyTo(w.Reserve(3));
            w.Advance(3);
            w.WriteLineEnd();
        });
    }

    [Fact]
    public void Types_without_a_form_in_RESP2_are_written_as_Redis_does()
    {
        Check("$-1\r\n", "_\r\n", (ref w) => w.WriteNull());
        Check("*-1\r\n", "_\r\n", (ref w) => w.WriteNullArray());
        Check("*4\r\n", "%2\r\n", (ref w) => w.WriteMapHeader(2));
        Check("*2\r\n", "~2\r\n", (ref w) => w.WriteSetHeader(2));
        Check("*3\r\n", ">3\r\n", (ref w) => w.WritePushHeader(3));
        Check("$3\r\n1.5\r\n", ",1.5\r\n", (ref w) => w.WriteDouble(1.5));
        Check("$3\r\ninf\r\n", ",inf\r\n", (ref w) => w.WriteDouble(double.PositiveInfinity));
        Check("$4\r\ntext\r\n", "=8\r\ntxt:text\r\n", (ref w) => w.WriteVerbatim("text"u8, "txt"u8));
    }

    [Fact]
    public void Version_may_change_between_two_replies() =>
        Check("$-1\r\n_\r\n", "_\r\n_\r\n", (ref w) =>
        {
            w.WriteNull();
            w.IsResp3 = true;
            w.WriteNull();
        });

    [Fact]
    public void Line_end_in_a_line_becomes_spaces()
    {
        Check("-ERR unknown command 'a  b'\r\n", (ref w) => w.WriteError("ERR unknown command 'a\r\nb'"u8));
        Check("+ \r\n", (ref w) => w.WriteSimple("\n"u8));
    }

    [Fact]
    public void Format_of_a_verbatim_text_has_three_bytes() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new RespWriter(new byte[64]).WriteVerbatim("a"u8, "text"u8));

    [Fact]
    public void Length_of_the_largest_map_fits() => Check("*4294967294\r\n", "%2147483647\r\n", (ref w) => w.WriteMapHeader(int.MaxValue));

    [Fact]
    public void Bytes_are_written_as_they_are() => Check("\0\r\n\r\n", (ref w) => w.WriteRaw("\0\r\n\r\n"u8));

    private static void Check(string expected, Write write) => Check(expected, expected, write);

    private static void Check(string resp2, string resp3, Write write)
    {
        CheckVersion(resp2, isResp3: false, write);
        CheckVersion(resp3, isResp3: true, write);
    }

    private static void CheckVersion(string expected, bool isResp3, Write write)
    {
        var destination = new byte[256];
        var toSpan = new RespWriter(destination, isResp3);
        write(ref toSpan);
        Assert.Equal(expected, Latin.Text(destination.AsSpan(0, toSpan.PendingBytes)));

        for (int blockBytes = 1; blockBytes <= 40; blockBytes++)
        {
            var output = new BlockWriter(blockBytes);
            var toBlocks = new RespWriter(output, isResp3);
            write(ref toBlocks);
            toBlocks.Flush();
            Assert.Equal(expected, Latin.Text(output.Written));
        }
    }
}
