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
            && (!pause.IsWritesOnly || (found.Name == "exec" ? _isQueueChanging : IsPausedAsWrite(found)));
        CountPause(mustWait);
        if (mustWait)
        {
            PutBack(command, request, length);
            Peer.BeginWait();
        }

        return mustWait;
    }

    // CLIENT PAUSE with WRITE lets these commands wait, and EXEC if one of them is in its queue.
    private static bool IsPausedAsWrite(CommandInfo command) => (command.Flags & CommandFlags.Write) != 0 || command.IsPublish;

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
