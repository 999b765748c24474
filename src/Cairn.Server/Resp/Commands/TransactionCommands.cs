namespace Cairn.Server.Resp.Commands;

/// <summary>Commands of transactions, which execute all requests atomically or none.</summary>
internal static class TransactionCommands
{
    private const CommandFlags Flags =
        CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast | CommandFlags.Immediate;

    public static CommandInfo[] All { get; } =
    [
        Make("multi", 1, Flags, Multi),
        Make("exec", 1, Flags & ~CommandFlags.Fast, Exec),
        Make("discard", 1, Flags, Discard),
        new CommandInfo
        {
            Name = "watch", Arity = -2, Flags = Flags, Group = "transactions", Handler = Watch,
            FirstKey = 1, LastKey = -1, KeyStep = 1,
        },
        Make("unwatch", 1, Flags & ~CommandFlags.Immediate, Unwatch),
    ];

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = flags, Group = "transactions", Handler = handler };

    private static void Multi(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.IsInTransaction)
        {
            writer.WriteError("ERR MULTI calls can not be nested"u8);
            return;
        }

        session.BeginTransaction();
        writer.WriteOk();
    }

    private static void Exec(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.IsInTransaction)
        {
            session.ExecuteTransaction(ref writer);
        }
        else
        {
            writer.WriteError("ERR EXEC without MULTI"u8);
        }
    }

    private static void Discard(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.IsInTransaction)
        {
            writer.WriteError("ERR DISCARD without MULTI"u8);
            return;
        }

        session.EndTransaction();
        writer.WriteOk();
    }

    private static void Watch(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.IsInTransaction)
        {
            writer.WriteError("ERR WATCH inside MULTI is not allowed"u8);
            return;
        }

        for (int i = session.BeginAt(1); i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return;
            }

            session.Watch(arguments[i]);
        }

        writer.WriteOk();
    }

    private static void Unwatch(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        session.Unwatch();
        writer.WriteOk();
    }
}
