using Cairn.Server.Metrics;

namespace Cairn.Server.Resp.Commands;

/// <summary>SLOWLOG: the slow requests of all protocols.</summary>
internal static class SlowLogCommands
{
    private const CommandFlags Flags = CommandFlags.Admin | CommandFlags.Loading | CommandFlags.Stale;
    private const int DefaultCount = 10;

    public static CommandInfo All { get; } = new()
    {
        Name = "slowlog", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = Length, Subcommands =
        [
            Make("slowlog|get", -2, Get),
            Make("slowlog|len", 2, Length),
            Make("slowlog|reset", 2, Reset),
            HelpCommand.Of("slowlog", "server"),
        ],
    };

    private static CommandInfo Make(string name, int arity, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = Flags, Group = "server", Handler = handler };

    private static void Get(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        long count = DefaultCount;
        if (arguments.Count > 3)
        {
            writer.WriteError(RespErrors.WrongCount(arguments));
            return;
        }

        if (arguments.Count == 3 && (!Text.TryParse(arguments[2], out count) || count < -1))
        {
            writer.WriteError("ERR count should be greater than or equal to -1"u8);
            return;
        }

        SlowRequest[] requests = session.Server.Metrics.SlowLog.Latest(count < 0 ? int.MaxValue : (int)Math.Min(count, int.MaxValue));
        if (session.MustAwaitMemory(requests.Sum(request => request.Arguments.Sum(argument => (long)argument.Length + RespWriter.MaxHeaderBytes)), 1, ref writer))
        {
            return;
        }

        writer.WriteArrayHeader(requests.Length);
        foreach (SlowRequest request in requests)
        {
            writer.WriteArrayHeader(6);
            writer.WriteInteger(request.Id);
            writer.WriteInteger(request.At.ToUnixTimeSeconds());
            writer.WriteInteger((long)request.Duration.TotalMicroseconds);
            writer.WriteArrayHeader(request.Arguments.Count);
            foreach (byte[] argument in request.Arguments)
            {
                writer.WriteBulk(argument);
            }

            writer.WriteText(request.Client);
            writer.WriteText(request.ClientName);
        }
    }

    private static void Length(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(session.Server.Metrics.SlowLog.Count);

    private static void Reset(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        session.Server.Metrics.SlowLog.Clear();
        writer.WriteOk();
    }
}
