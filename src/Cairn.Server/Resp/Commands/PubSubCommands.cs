using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands for messages to the present subscribers.</summary>
internal static class PubSubCommands
{
    private const CommandFlags AnyTime = CommandFlags.PubSub | CommandFlags.Loading | CommandFlags.Stale;
    private const CommandFlags Subscriptions = AnyTime | CommandFlags.NoScript | CommandFlags.Subscribed;

    private const int KeptReceivers = 1024;

    // Every message is compared with every pattern.
    private const int MostPatterns = 1024;

    // The elements of PUBLISH and PUBSUB CHANNELS before the first pattern or channel.
    private const int BeforePatterns = 1;
    private const int FirstPattern = 2;

    public static CommandInfo[] All { get; } =
    [
        Make("subscribe", -2, Subscriptions | CommandFlags.Lists, (s, scoped in a, ref w) => Subscribe(s, a, "subscribe"u8, isPattern: false, ref w)),
        Make("psubscribe", -2, Subscriptions | CommandFlags.Lists, (s, scoped in a, ref w) => Subscribe(s, a, "psubscribe"u8, isPattern: true, ref w)),
        Make("unsubscribe", -1, Subscriptions | CommandFlags.Lists, (s, scoped in a, ref w) => Unsubscribe(s, a, "unsubscribe"u8, isPattern: false, ref w)),
        Make("punsubscribe", -1, Subscriptions | CommandFlags.Lists, (s, scoped in a, ref w) => Unsubscribe(s, a, "punsubscribe"u8, isPattern: true, ref w)),
        new CommandInfo
        {
            Name = "publish", Arity = 3, Flags = AnyTime | CommandFlags.Fast, Group = "pubsub", Handler = Publish, IsPublish = true,
        },
        new CommandInfo
        {
            Name = "pubsub", Arity = -2, Flags = CommandFlags.None, Group = "pubsub", Handler = NumPat, Subcommands =
            [
                Make("pubsub|channels", -2, AnyTime, Channels),
                Make("pubsub|numsub", -2, AnyTime | CommandFlags.Lists, NumSub),
                Make("pubsub|numpat", 2, AnyTime, NumPat),
                HelpCommand.Of("pubsub", "pubsub"),
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

            string name = Text.Latin(arguments[i]);
            session.Subscribe(name, isPattern);
            session.WriteSubscription(kind, name, ref writer);
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

            string named = Text.Latin(arguments[i]);
            session.Unsubscribe(named, isPattern);
            session.WriteSubscription(kind, named, ref writer);
        }

        if (arguments.Count > 1)
        {
            return;
        }

        if (session.ResumeAt == 0 && session.Subscriptions(isPattern).Count == 0)
        {
            session.WriteSubscription(kind, null, ref writer);
        }

        while (session.Subscriptions(isPattern) is { Count: > 0 } names && !session.MustPause(1, ref writer))
        {
            string name = names.First;
            session.Unsubscribe(name, isPattern);
            session.WriteSubscription(kind, name, ref writer);
        }
    }

    private static void Publish(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!IsChannel(arguments[1], ref writer))
        {
            return;
        }

        PubSubHub hub = session.Server.Messages;
        PatternSubscription[] patterns = session.BeginWith(static server => server.Messages.Patterns);
        List<Receiver> receivers = session.Receivers;
        for (int element = session.BeginAt(BeforePatterns); element - FirstPattern < patterns.Length; element++)
        {
            PatternSubscription? pattern = element == BeforePatterns ? null : patterns[element - FirstPattern];
            if (session.MustPause(element, ref writer, WorkOf(pattern?.Filter, arguments[1].Length, element)))
            {
                return;
            }

            if (pattern is null)
            {
                hub.FindSubscribers(arguments[1], receivers);
            }
            else
            {
                hub.FindReceivers(pattern, arguments[1], receivers);
            }

            if (receivers.Count > 0)
            {
                session.Tally += receivers.Count;
                Deliver(session, arguments[1], arguments[2], receivers, ref writer);
            }
        }

        writer.WriteInteger(session.Tally);
        if (receivers.Capacity > KeptReceivers)
        {
            receivers.TrimExcess();
        }
    }

    private static void Deliver(
        RespSession session, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> content,
        List<Receiver> receivers, ref RespWriter writer)
    {
        session.CountWork(receivers.Count);
        var message = PublishedMessage.Rent(channel, content, session.Peer.Held.Account);
        foreach ((ISubscriber receiver, string? pattern) in receivers)
        {
            // Inside the reply of EXEC there is no place for a message. It follows the reply, as in Redis 7.2.
            if (receiver == session && !session.IsExecutingQueue)
            {
                session.WriteMessage(channel, pattern, content, ref writer);
            }
            else
            {
                receiver.Deliver(message, pattern);
            }
        }

        message.Release();
        receivers.Clear(); // Does not keep ended sessions alive.
    }

    // The work of a comparison, in ordinary elements.
    private static int WorkOf(KeyFilter? filter, int nameBytes, int element) =>
        (element % PubSubHub.PatternsOfElement == 0 ? 1 : 0) + (int)((filter?.BytesAfterStar ?? 0) * (long)nameBytes / KeyScan.ComparisonsOfElement);

    // First it counts the channels that match, and then it writes them.
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

        string[] channels = session.BeginWith(static server => server.Messages.FindChannels());
        int written = BeforePatterns + channels.Length;
        for (int element = session.BeginAt(BeforePatterns); element < written + channels.Length; element++)
        {
            string channel = channels[(element - BeforePatterns) % channels.Length];
            if (session.MustPause(element, ref writer, 1 + WorkOf(filter, channel.Length, 1)))
            {
                return;
            }

            if (element == written)
            {
                writer.WriteArrayHeader((int)session.Tally);
            }

            if (filter is not null && !filter.Matches(channel))
            {
                continue;
            }

            if (element < written)
            {
                session.Tally++;
            }
            else
            {
                writer.WriteText(channel);
            }
        }

        if (channels.Length == 0)
        {
            writer.WriteArrayHeader(0);
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
