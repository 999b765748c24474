using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>One command.</summary>
/// <param name="words">The words of the command.</param>
internal readonly ref struct RespCommand(ReadOnlySpan<RedisArgument> words) : IRequest
{
    private readonly ReadOnlySpan<RedisArgument> _words = words;

    public int Replies => 1;

    public void WriteTo(RequestBuffer output)
    {
        var writer = new RespWriter(output);
        Write(ref writer, _words);
        writer.Flush();
    }

    public static void Write(ref RespWriter writer, ReadOnlySpan<RedisArgument> words)
    {
        writer.WriteArrayHeader(words.Length);
        foreach (ref readonly RedisArgument word in words)
        {
            word.WriteTo(ref writer);
        }
    }
}
