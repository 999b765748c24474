namespace Cairn.Server.Resp;

// CLIENT PAUSE. A request that must wait returns to those that were read ahead and is not consumed. When the pause ends, the connection
// is served again without new input.
internal sealed partial class RespSession
{
    private bool _isHeldByPause;

    /// <summary>Serves the waiting requests soon. Thread-safe.</summary>
    public void Resume() => Peer.Resume();

    // Returns true if the request must wait. It is then the next request again.
    private bool MustWait(CommandInfo? command, scoped in RespArguments arguments, RespRequest request, int length)
    {
        if (Server.Pause is not { } pause)
        {
            CountPause(isHeld: false);
            return false;
        }

        CommandInfo? found = command ?? (arguments.Count > 0 ? Server.Commands.Find(arguments[0]) : null);
        if (found is { Subcommands.Length: > 0 } && arguments.Count > 1)
        {
            found = found.FindSubcommand(arguments[1]);
        }

        bool mustWait = found is not null && found.Name != "client|unpause"
            && (!pause.IsWritesOnly || (found.Flags & CommandFlags.Write) != 0 || found.IsPublish || found.Name == "exec");
        CountPause(mustWait);
        if (mustWait)
        {
            PutBack(command, request, length);
            Peer.BeginWait();
        }

        return mustWait;
    }

    // INFO reports how many clients wait.
    private void CountPause(bool isHeld)
    {
        if (_isHeldByPause != isHeld)
        {
            _isHeldByPause = isHeld;
            Server.CountHeldByPause(isHeld ? 1 : -1);
        }
    }
}
