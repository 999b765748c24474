namespace Cairn.Protocol;

public class MemcachedReplyWriterTests
{
    private delegate void Write(ref MemcachedReplyWriter writer);

    [Fact]
    public void Text_and_numbers_are_written_unchanged()
    {
        Check("key=a exp=-1\r\n", (ref w) => w.WriteLine("key=a exp=-1"u8));
        Check("exp=-9223372036854775808", (ref w) =>
        {
            w.WriteRaw("exp="u8);
            w.WriteDigits(long.MinValue);
        });
    }

    [Fact]
    public void Meta_replies_have_a_code_and_flags()
    {
        Check("HD\r\n", MemcachedMetaCode.Done);
        Check("EN\r\n", MemcachedMetaCode.Miss);
        Check("NS\r\n", MemcachedMetaCode.NotStored);
        Check("EX\r\n", MemcachedMetaCode.Exists);
        Check("NF\r\n", MemcachedMetaCode.NotFound);
        Check("MN\r\n", MemcachedMetaCode.Noop);
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
    public void Writing_beyond_a_span_is_an_error() =>
        Assert.Throws<InvalidOperationException>(() => new MemcachedReplyWriter(new byte[4]).WriteLine("HD NS"u8));

    private static void Check(string expected, MemcachedMetaCode code) =>
        Check(expected, (ref w) =>
        {
            w.BeginMeta(code);
            w.WriteLineEnd();
        });

    private static void Check(string expected, Write write)
    {
        var destination = new byte[512];
        var writer = new MemcachedReplyWriter(destination);
        write(ref writer);

        Assert.Equal(expected, Latin.Text(destination.AsSpan(0, writer.PendingBytes)));
    }
}
