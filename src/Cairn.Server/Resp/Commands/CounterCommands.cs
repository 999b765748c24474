using Cairn.Engine;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands that add to numbers. Each reads, adds, and writes if the entry has not changed since.</summary>
internal static class CounterCommands
{
    private const CommandFlags Flags = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;

    // The places and digits of a sum that take as long as one ordinary key.
    private const int PlacesOfElement = 32;
    private const int DigitsOfElement = 2;

    public static CommandInfo[] All { get; } =
    [
        Make("incr", 2, (session, scoped in arguments, ref writer) => Add(session, arguments[1], 1, ref writer)),
        Make("decr", 2, (session, scoped in arguments, ref writer) => Add(session, arguments[1], -1, ref writer)),
        Make("incrby", 3, (session, scoped in arguments, ref writer) => IncrBy(session, arguments[1], arguments[2], ref writer)),
        Make("decrby", 3, DecrBy),
        Make("incrbyfloat", 3, IncrByFloat),
    ];

    private static CommandInfo Make(string name, int arity, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = Flags, Group = "string", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    /// <summary>Adds a number, as text, to the number at a key. Replies with the sum.</summary>
    public static void IncrBy(RespSession session, ReadOnlySpan<byte> key, ReadOnlySpan<byte> increment, ref RespWriter writer)
    {
        if (Text.TryParse(increment, out long delta))
        {
            Add(session, key, delta, ref writer);
        }
        else
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
    }

    private static void DecrBy(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParse(arguments[2], out long delta))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else if (delta == long.MinValue)
        {
            writer.WriteError("ERR decrement would overflow"u8);
        }
        else
        {
            Add(session, arguments[1], -delta, ref writer);
        }
    }

    private static void Add(RespSession session, ReadOnlySpan<byte> key, long delta, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        while (true)
        {
            ReadOutcome outcome = keys.TryGet(key, text, out EntryInfo info);
            if (info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            long number = 0;
            if (outcome == ReadOutcome.TooShort || (outcome == ReadOutcome.Hit && !Text.TryParse(text[..info.ValueBytes], out number)))
            {
                writer.WriteError(RespErrors.NotAnInteger);
                return;
            }

            long sum = unchecked(number + delta);
            if (((number ^ sum) & (delta ^ sum)) < 0)
            {
                writer.WriteError(RespErrors.Overflow);
                return;
            }

            ReadOnlySpan<byte> formatted = text[..DecimalText.Format(sum, text)];
            WriteStatus status = outcome == ReadOutcome.Hit
                ? keys.Rewrite(key, formatted, info.Version)
                : keys.Write(key, EntryType.Value, formatted, ResolvedExpiration.Never, WriteCondition.IfAbsent);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Strings, "incrby"u8, key);
                writer.WriteInteger(sum);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    /// <summary>Counts the work of a sum. A number of thousands of digits takes as long as thousands of keys.</summary>
    public static void CountSum(RespSession session, ExtendedDouble delta, byte[] sum) =>
        session.CountWork((delta.Places / PlacesOfElement) + (sum.Length / DigitsOfElement));

    private static void IncrByFloat(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        while (true)
        {
            bool isFound = keys.TryRead(arguments[1], out ReadOnlySpan<byte> old, out EntryInfo info);
            if (isFound && info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            ExtendedDouble number = default;
            if ((isFound && !ExtendedDouble.TryParse(old, out number)) || !ExtendedDouble.TryParse(arguments[2], out ExtendedDouble delta))
            {
                writer.WriteError(RespErrors.NotAFloat);
                return;
            }

            number = ExtendedDouble.Add(number, delta);
            if (!number.IsFinite)
            {
                writer.WriteError(RespErrors.NotANumber);
                return;
            }

            byte[] sum = Text.Format(number);
            CountSum(session, delta, sum);
            WriteStatus status = isFound
                ? keys.Rewrite(arguments[1], sum, info.Version)
                : keys.Write(arguments[1], EntryType.Value, sum, ResolvedExpiration.Never, WriteCondition.IfAbsent);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Strings, "incrbyfloat"u8, arguments[1]);
                writer.WriteBulk(sum);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }
}
