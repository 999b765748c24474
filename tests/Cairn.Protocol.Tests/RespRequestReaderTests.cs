using System.Text;

namespace Cairn.Protocol;

public class RespRequestReaderTests
{
    [Theory]
    [InlineData("*2\r\n$3\r\nGET\r\n$7\r\nbook:42\r\n")]
    [InlineData("GET book:42\r\n")]
    [InlineData("\"GET\" 'book:42'\r\n")]
    public void Request_has_its_arguments(string text)
    {
        var input = Encoding.ASCII.GetBytes(text);
        var reader = new RespRequestReader();

        var status = reader.TryRead(input, out var request, out int consumed);

        Assert.Equal(ParseStatus.Complete, status);
        Assert.Equal(input.Length, consumed);
        Assert.Equal(2, request.ArgumentCount);
        Assert.Equal("GET", Encoding.ASCII.GetString(reader.GetArgument(input, request, 0)));
        Assert.Equal("book:42", Encoding.ASCII.GetString(reader.GetArgument(input, request, 1)));
    }
}
