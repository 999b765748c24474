namespace Cairn.Server.Resp;

// A script that executes commands does so while the partitions of its keys are held, so its commands cannot pause, as between MULTI and EXEC.
// Only commands whose work and reply are short can be executed so, and only on keys of the script.
internal sealed partial class RespSession
{
    private const int LongestReplyInScript = 1024;

    private bool _isExecutingScript;

    /// <summary>Executes a command of a script without its reply.</summary>
    /// <returns>False if the command failed; its error has been written.</returns>
    public bool TryExecuteInScript(scoped in RespArguments arguments, scoped in ScriptCall script, ref RespWriter writer)
    {
        CommandInfo? command = Server.Commands.Find(arguments[0]);
        bool isShort = command?.Name is "hset" or "pexpire" or "persist" or "del" or "unlink"
            || (command?.Name == "set" && (arguments.Count == 3 || (arguments.Count == 5 && arguments.Is(3, "px"u8))))
            || (command is { IsPublish: true } && Server.Messages.PatternCount / PubSub.PubSubHub.PatternsOfElement <= MostQueueWork);
        if (!isShort || !command!.AcceptsCount(arguments.Count))
        {
            writer.WriteError("ERR the script can execute HSET, PEXPIRE, PERSIST, DEL, UNLINK, SET with PX and PUBLISH"u8);
            return false;
        }

        for (int i = command.FirstKey; i > 0 && i <= command.LastKeyOf(arguments); i++)
        {
            if (!script.HasKey(arguments[i]))
            {
                writer.WriteError("ERR the script names a key that is not in KEYS"u8);
                return false;
            }
        }

        if (_isRestricted && !IsPermitted(command, arguments, ref writer))
        {
            return false;
        }

        bool isExecutingQueue = _isExecutingQueue;
        (_isExecutingQueue, _isExecutingScript) = (true, true);
        Span<byte> reply = stackalloc byte[LongestReplyInScript];
        var unwanted = new RespWriter(reply, IsResp3);
        try
        {
            command.Handler(this, arguments, ref unwanted);
        }
        finally
        {
            (_isExecutingQueue, _isExecutingScript) = (isExecutingQueue, false);
        }

        if (unwanted.ErrorCount > 0)
        {
            writer.WriteError(reply[1..(unwanted.PendingBytes - 2)]);
        }

        return unwanted.ErrorCount == 0;
    }
}
