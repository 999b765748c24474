using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>Several commands with no other command between them.</summary>
/// <param name="commands">The words of each command.</param>
internal readonly struct RespCommands(RedisArgument[][] commands) : IRequest
{
    public int Replies => commands.Length;

    public void WriteTo(RequestBuffer output)
    {
        var writer = new RespWriter(output);
        foreach (RedisArgument[] words in commands)
        {
            RespCommand.Write(ref writer, words);
        }

        writer.Flush();
    }
}
