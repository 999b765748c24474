using Cairn.Protocol;

namespace Cairn.Server.Resp;

// CLIENT PAUSE: a request that has to wait goes back to those that were read ahead, and is not consumed; when the pause ends, the
// connection is served again without anything having arrived.
internal sealed partial class RespSession
{
    /// <summary>Serves what waits, soon. Any thread.</summary>
    public void Resume() => Peer.Resume();

    // True if the request has to wait; it is the next one again then.
    private bool MustWait(CommandInfo? command, scoped in RespArguments arguments, RespRequest request, int length)
    {
        if (Server.Pause is not { } pause)
        {
            return false;
        }

        CommandInfo? found = command ?? (arguments.Count > 0 ? CommandTable.Find(arguments[0]) : null);
        if (found is { Subcommands.Length: > 0 } && arguments.Count > 1)
        {
            found = found.FindSubcommand(arguments[1]);
        }

        bool mustWait = found is not null && found.Name != "client|unpause"
            && (!pause.IsWritesOnly || (found.Flags & CommandFlags.Write) != 0 || found.IsPublish || found.Name == "exec");
        if (mustWait)
        {
            PutBack(command, request, length);
            Peer.BeginWait();
        }

        return mustWait;
    }
}
