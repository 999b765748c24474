using Cairn.Protocol;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands for messages to the present subscribers.</summary>
internal static class PubSubCommands
{
    private const CommandFlags AnyTime = CommandFlags.PubSub | CommandFlags.Loading | CommandFlags.Stale;
    private const CommandFlags Subscriptions = AnyTime | CommandFlags.NoScript | CommandFlags.Subscribed;

    private const int KeptReceivers = 1024;

    // Every message is compared with every pattern, in the turn of its sender.
    private const int MostPatterns = 1024;

    public static CommandInfo[] All { get; } =
    [
        Make("subscribe", -2, Subscriptions, (s, scoped in a, ref w) => Subscribe(s, a, "subscribe"u8, isPattern: false, ref w)),
        Make("psubscribe", -2, Subscriptions, (s, scoped in a, ref w) => Subscribe(s, a, "psubscribe"u8, isPattern: true, ref w)),
        Make("unsubscribe", -1, Subscriptions, (s, scoped in a, ref w) => Unsubscribe(s, a, "unsubscribe"u8, isPattern: false, ref w)),
        Make("punsubscribe", -1, Subscriptions, (s, scoped in a, ref w) => Unsubscribe(s, a, "punsubscribe"u8, isPattern: true, ref w)),
        new CommandInfo
        {
            Name = "publish", Arity = 3, Flags = AnyTime | CommandFlags.Fast, Group = "pubsub", Handler = Publish, IsPublish = true,
        },
        new CommandInfo
        {
            Name = "pubsub", Arity = -2, Flags = CommandFlags.None, Group = "pubsub", Handler = NumPat, Subcommands =
            [
                Make("pubsub|channels", -2, AnyTime, Channels),
                Make("pubsub|numsub", -2, AnyTime, NumSub),
                Make("pubsub|numpat", 2, AnyTime, NumPat),
            ],
        },
    ];

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = flags, Group = "pubsub", Handler = handler };

    private static void Subscribe(
        RespSession session, scoped in RespArguments arguments, ReadOnlySpan<byte> kind, bool isPattern, ref RespWriter writer)
    {
        for (int i = Math.Max(session.ResumeAt, 1); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            if (!MaySubscribe(session, arguments[i], isPattern, ref writer))
            {
                return;
            }

            session.Subscribe(Text.Latin(arguments[i]), isPattern);
            WriteChange(session, kind, arguments[i], ref writer);
        }
    }

    // Returns false after writing the error. Earlier subscriptions of the same command stay.
    private static bool MaySubscribe(RespSession session, ReadOnlySpan<byte> name, bool isPattern, ref RespWriter writer)
    {
        if (!isPattern)
        {
            return IsChannel(name, ref writer);
        }

        if (session.Subscriptions(isPattern: true).Count >= MostPatterns)
        {
            writer.WriteError(Text.Bytes($"ERR a client subscribes to at most {MostPatterns} patterns"));
            return false;
        }

        return Text.TryReadPattern(name, out _, ref writer);
    }

    private static bool IsChannel(ReadOnlySpan<byte> name, ref RespWriter writer)
    {
        if (name.Length <= KeySpace.MaxKeyBytes)
        {
            return true;
        }

        writer.WriteError(RespErrors.ChannelTooLong);
        return false;
    }

    private static void Unsubscribe(
        RespSession session, scoped in RespArguments arguments, ReadOnlySpan<byte> kind, bool isPattern, ref RespWriter writer)
    {
        for (int i = Math.Max(session.ResumeAt, 1); i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return;
            }

            session.Unsubscribe(Text.Latin(arguments[i]), isPattern);
            WriteChange(session, kind, arguments[i], ref writer);
        }

        if (arguments.Count > 1)
        {
            return;
        }

        if (session.ResumeAt == 0 && session.Subscriptions(isPattern).Count == 0)
        {
            writer.WritePushHeader(3);
            writer.WriteBulk(kind);
            writer.WriteNull();
            writer.WriteInteger(session.SubscriptionCount);
        }

        while (session.Subscriptions(isPattern) is { Count: > 0 } names && !session.MustPause(1, ref writer))
        {
            string name = names.First;
            session.Unsubscribe(name, isPattern);
            WriteChange(session, kind, Text.Bytes(name), ref writer);
        }
    }

    private static void WriteChange(RespSession session, ReadOnlySpan<byte> kind, ReadOnlySpan<byte> name, ref RespWriter writer)
    {
        writer.WritePushHeader(3);
        writer.WriteBulk(kind);
        writer.WriteBulk(name);
        writer.WriteInteger(session.SubscriptionCount);
    }

    private static void Publish(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!IsChannel(arguments[1], ref writer))
        {
            return;
        }

        List<(RespSession Session, string? Pattern)> receivers = session.Receivers;
        receivers.Clear();
        session.Server.Messages.FindReceivers(arguments[1], receivers);
        if (receivers.Count > 0)
        {
            var message = PublishedMessage.Rent(arguments[1], arguments[2], session.Peer.Held.Account);
            foreach ((RespSession receiver, string? pattern) in receivers)
            {
                if (receiver == session)
                {
                    RespSession.WriteMessage(arguments[1], pattern, arguments[2], ref writer);
                }
                else
                {
                    receiver.Deliver(message, pattern);
                }
            }

            message.Release();
        }

        writer.WriteInteger(receivers.Count);
        receivers.Clear(); // Does not keep ended sessions alive.
        if (receivers.Capacity > KeptReceivers)
        {
            receivers.TrimExcess();
        }
    }

    private static void Channels(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 3)
        {
            writer.WriteError("ERR Unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP."u8);
            return;
        }

        KeyFilter? filter = null;
        if (arguments.Count == 3 && !Text.TryReadPattern(arguments[2], out filter, ref writer))
        {
            return;
        }

        IReadOnlyList<string> channels = session.Server.Messages.FindChannels(filter);
        long bytes = channels.Sum(channel => (long)channel.Length + RespWriter.MaxHeaderBytes);
        if (bytes > session.MaxReplyBytes)
        {
            writer.WriteError(RespErrors.ReplyTooLong(session.MaxReplyBytes, "Name a pattern that matches fewer channels."));
            return;
        }

        if (session.MustAwaitMemory(bytes, 1, ref writer))
        {
            return;
        }

        writer.WriteArrayHeader(channels.Count);
        foreach (string channel in channels)
        {
            writer.WriteBulk(Text.Bytes(channel));
        }
    }

    private static void NumSub(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.ResumeAt == 0)
        {
            writer.WriteArrayHeader((arguments.Count - 2) * 2);
        }

        for (int i = Math.Max(session.ResumeAt, 2); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            writer.WriteBulk(arguments[i]);
            writer.WriteInteger(session.Server.Messages.CountSubscribers(arguments[i]));
        }
    }

    private static void NumPat(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(session.Server.Messages.PatternCount);
}
