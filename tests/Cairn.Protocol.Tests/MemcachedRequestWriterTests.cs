namespace Cairn.Protocol;

public class MemcachedRequestWriterTests
{
    private delegate void Write(ref MemcachedRequestWriter writer);

    [Fact]
    public void Requests_are_written_as_they_are_read()
    {
        Check("get a\r\n", "Get key=a", (ref w) => w.WriteGet("a"u8));
        Check("set a 0 0 1\r\nx\r\n", "Set key=a value=x", (ref w) => w.WriteStore(MemcachedCommand.Set, "a"u8, "x"u8));
        Check(
            "add a 7 60 0 noreply\r\n\r\n",
            "Add key=a flags=7 exptime=60 noreply value=",
            (ref w) => w.WriteStore(MemcachedCommand.Add, "a"u8, [], 7, 60, isNoReply: true));
        Check("replace a 0 0 1\r\nx\r\n", "Replace key=a value=x", (ref w) => w.WriteStore(MemcachedCommand.Replace, "a"u8, "x"u8));
        Check("append a 0 0 1\r\nx\r\n", "Append key=a value=x", (ref w) => w.WriteStore(MemcachedCommand.Append, "a"u8, "x"u8));
        Check("prepend a 0 0 1\r\nx\r\n", "Prepend key=a value=x", (ref w) => w.WriteStore(MemcachedCommand.Prepend, "a"u8, "x"u8));
        Check("delete a noreply\r\n", "Delete key=a a noreply noreply", (ref w) => w.WriteDelete("a"u8, isNoReply: true));
        Check("touch a 60\r\n", "Touch key=a a 60 exptime=60", (ref w) => w.WriteTouch("a"u8, 60));
        Check("flush_all 10\r\n", "FlushAll 10 exptime=10", (ref w) => w.WriteFlushAll(10));
        Check("stats items\r\n", "Stats items", (ref w) => w.WriteLine("stats items"u8));
    }

    [Fact]
    public void Meta_requests_are_written_as_they_are_read()
    {
        Check("mn\r\n", "MetaNoop", (ref w) => w.WriteMetaNoop());
        Check(
            "mg a v T60 O12\r\n",
            "MetaGet key=a v T60 O12 exptime=60 delta=1 has=Opaque, TimeToLive, ReturnValue opaque=12",
            (ref w) =>
            {
                w.BeginMeta(MemcachedCommand.MetaGet, "a"u8);
                w.WriteFlag('v');
                w.WriteFlag('T', 60L);
                w.WriteFlag('O', "12"u8);
                w.WriteLineEnd();
            });
        Check(
            "ms YQ== 1 b C7\r\nx\r\n",
            "MetaSet key=YQ== b C7 version=7 delta=1 has=CompareVersion, Base64Key value=x",
            (ref w) =>
            {
                w.BeginMetaSet("a"u8, 1, isBase64: true);
                w.WriteFlag('C', 7UL);
                w.WriteLineEnd();
                w.WriteData("x"u8);
            });
        Check("md YQ== b\r\n", "MetaDelete key=YQ== b delta=1 has=Base64Key", (ref w) =>
        {
            w.BeginMeta(MemcachedCommand.MetaDelete, "a"u8, isBase64: true);
            w.WriteLineEnd();
        });
    }

    [Theory]
    [InlineData("")]
    [InlineData("a b")]
    [InlineData("a\nb")]
    [InlineData("a\0")]
    [InlineData("\x7F")]
    public void Key_that_the_protocol_cannot_carry_is_refused_and_nothing_written(string key)
    {
        CheckRefused(key, (ref w, k) => w.WriteGet(k));
        CheckRefused(key, (ref w, k) => w.WriteStore(MemcachedCommand.Set, k, "x"u8));
        CheckRefused(key, (ref w, k) => w.WriteDelete(k));
        CheckRefused(key, (ref w, k) => w.WriteTouch(k, 1));
        CheckRefused(key, (ref w, k) => w.BeginMeta(MemcachedCommand.MetaGet, k));
        CheckRefused(key, (ref w, k) => w.BeginMetaSet(k, 1));
    }

    [Fact]
    public void Key_may_have_250_bytes_and_no_more()
    {
        Assert.True(MemcachedRequestWriter.IsPlainKey(Latin.Bytes(new string('k', 250))));
        Assert.False(MemcachedRequestWriter.IsPlainKey(Latin.Bytes(new string('k', 251))));
    }

    [Fact]
    public void Key_in_base64_may_have_any_186_bytes()
    {
        var destination = new byte[512];
        var writer = new MemcachedRequestWriter(destination);
        writer.BeginMeta(MemcachedCommand.MetaGet, new byte[186], isBase64: true);

        Assert.Throws<ArgumentException>(() =>
        {
            var second = new MemcachedRequestWriter(destination);
            second.BeginMeta(MemcachedCommand.MetaGet, new byte[187], isBase64: true);
        });
    }

    [Fact]
    public void Line_end_within_a_line_or_token_is_refused()
    {
        Assert.Throws<ArgumentException>(() => new MemcachedRequestWriter(new byte[64]).WriteLine("a\nb"u8));
        Assert.Throws<ArgumentException>(() => new MemcachedRequestWriter(new byte[64]).WriteFlag('O', "a b"u8));
    }

    [Fact]
    public void Command_of_another_kind_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() =>
            new MemcachedRequestWriter(new byte[64]).WriteStore(MemcachedCommand.Cas, "a"u8, "x"u8));
        Assert.Throws<ArgumentOutOfRangeException>(() =>
            new MemcachedRequestWriter(new byte[64]).BeginMeta(MemcachedCommand.MetaSet, "a"u8));
    }

    private delegate void WriteWithKey(ref MemcachedRequestWriter writer, ReadOnlySpan<byte> key);

    private static void CheckRefused(string key, WriteWithKey write)
    {
        var destination = new byte[64];

        Assert.Throws<ArgumentException>(() =>
        {
            var writer = new MemcachedRequestWriter(destination);
            write(ref writer, Latin.Bytes(key));
        });
        Assert.Equal(new byte[64], destination);
    }

    private static void Check(string expected, string read, Write write)
    {
        var destination = new byte[256];
        var writer = new MemcachedRequestWriter(destination);
        write(ref writer);

        string written = Latin.Text(destination.AsSpan(0, writer.PendingBytes));
        Assert.Equal(expected, written);
        Assert.Equal(read, MemcachedText.OfRequest(written));
    }
}
