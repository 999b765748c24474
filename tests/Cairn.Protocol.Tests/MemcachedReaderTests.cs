using System.Text;

namespace Cairn.Protocol;

public class MemcachedReaderTests
{
    [Fact]
    public void Get_of_one_key_has_its_key()
    {
        var input = "get book:42\r\nget"u8;

        var status = MemcachedReader.TryRead(input, out var request, out int consumed);

        Assert.Equal(ParseStatus.Complete, status);
        Assert.Equal(MemcachedCommand.Get, request.Command);
        Assert.Equal("book:42", Encoding.ASCII.GetString(request.Key.Of(input)));
        Assert.Equal(13, consumed);
    }

    [Fact]
    public void Set_says_how_many_bytes_it_needs_before_its_value_is_there()
    {
        var input = "set book:42 7 60 1000 noreply\r\nDune"u8;

        var status = MemcachedReader.TryRead(input, out var request, out int consumed);

        Assert.Equal(ParseStatus.IncompleteValue, status);
        Assert.Equal(0, consumed);
        Assert.Equal(31 + 1000 + 2, request.TotalBytes);
        Assert.True(request.IsNoReply);
    }
}
