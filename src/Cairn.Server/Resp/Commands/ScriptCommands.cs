using System.Security.Cryptography;
using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

// EVAL and related commands. The server does not execute Lua. It knows one script by its digest: the script with which Microsoft's
// IDistributedCache for Redis, versions 6 to 8, sets entries. With KEYS[1] and ARGV[1..4], the script has this effect:
//
//   HSET KEYS[1] absexp ARGV[1] sldexp ARGV[2] data ARGV[4]; unless ARGV[3] is -1, EXPIRE KEYS[1] ARGV[3]; return 1
internal static class ScriptCommands
{
    private const CommandFlags Flags = CommandFlags.NoScript | CommandFlags.Stale;
    private const int DigestBytes = 20;

    // The arguments of the known script: the command's name, the script, the number of keys, the key, and ARGV.
    private const int KeyArgument = 3;
    private const int KnownArguments = 8;

    public static CommandInfo[] All { get; } =
    [
        Make("eval", (RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
            Evaluate(session, arguments, IsKnownScript(arguments[1]), ref writer)),
        Make("evalsha", (RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
            EvaluateDigest(session, arguments, ref writer)),
        new CommandInfo
        {
            Name = "script", Arity = -2, Flags = CommandFlags.None, Group = "scripting", Handler = Exists, Subcommands =
            [
                new CommandInfo { Name = "script|load", Arity = 3, Flags = Flags, Group = "scripting", Handler = Load },
                new CommandInfo { Name = "script|exists", Arity = -3, Flags = CommandFlags.NoScript, Group = "scripting", Handler = Exists },
                new CommandInfo { Name = "script|flush", Arity = -2, Flags = CommandFlags.NoScript, Group = "scripting", Handler = Flush },
            ],
        },
    ];

    /// <summary>Gets the known script's digest, as clients write it.</summary>
    public static ReadOnlySpan<byte> KnownDigest => "3915ee22fda531a1d5661f2523d0443fd35ff0a4"u8;

    private static ReadOnlySpan<byte> NotExecuted =>
        "ERR Lua scripts are not executed, except the one with which Microsoft's IDistributedCache for Redis sets entries"u8;

    private static CommandInfo Make(string name, CommandHandler handler) => new()
    {
        Name = name, Arity = -3, Flags = Flags | CommandFlags.Write | CommandFlags.DenyOom, Group = "scripting", Handler = handler,
        FirstKey = KeyArgument, LastKey = KeyArgument, KeyStep = 1,
    };

    private static void EvaluateDigest(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        // An invalid digest is reported before the number of keys is checked; an unknown digest is reported afterwards.
        bool isKnown = Text.EqualsIgnoreCase(arguments[1], KnownDigest);
        if (arguments[1].Length != 2 * DigestBytes || (!isKnown && IsCountValid(arguments, ref writer)))
        {
            writer.WriteError("NOSCRIPT No matching script. Please use EVAL."u8);
        }
        else if (isKnown)
        {
            Evaluate(session, arguments, isKnown: true, ref writer);
        }
    }

    private static void Evaluate(RespSession session, scoped in RespArguments arguments, bool isKnown, ref RespWriter writer)
    {
        if (!IsCountValid(arguments, ref writer))
        {
            return;
        }

        if (!isKnown)
        {
            writer.WriteError(NotExecuted);
        }
        else if (arguments.Count != KnownArguments || !arguments[2].SequenceEqual("1"u8))
        {
            writer.WriteError("ERR the script takes one key and four arguments"u8);
        }
        else if (!Text.TryParse(arguments[6], out long seconds) || seconds > long.MaxValue / 1000 - session.Keys.NowMs || seconds < long.MinValue / 1000)
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else
        {
            SetEntry(session, arguments, seconds, ref writer);
        }
    }

    private static bool IsCountValid(scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParse(arguments[2], out long keys))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else if (keys > arguments.Count - 3)
        {
            writer.WriteError("ERR Number of keys can't be greater than number of args"u8);
        }
        else if (keys < 0)
        {
            writer.WriteError("ERR Number of keys can't be negative"u8);
        }
        else
        {
            return true;
        }

        return false;
    }

    // One write, so no reader sees the fields without the expiration.
    private static void SetEntry(RespSession session, scoped in RespArguments arguments, long seconds, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        ReadOnlySpan<byte> key = arguments[KeyArgument];
        WriteStatus status;
        ResolvedExpiration expiration;
        do
        {
            EntryInfo old;
            using (PinnedEntry entry = keys.Pin(key))
            {
                old = entry.Info;
                if (entry.IsFound && old.Type != EntryType.Hash)
                {
                    writer.WriteError(RespErrors.WrongType);
                    return;
                }

                session.Editor.Load(new HashView(entry.Bytes));
            }

            session.Editor.Set("absexp"u8, arguments[4]);
            session.Editor.Set("sldexp"u8, arguments[5]);
            session.Editor.Set("data"u8, arguments[7]);
            if (!session.Editor.TryEncode(out ReadOnlySpan<byte> encoded))
            {
                writer.WriteError(HashCommands.TooLong);
                return;
            }

            expiration = seconds == -1 ? keys.SameAs(old) : keys.At(keys.NowMs + (seconds * 1000));
            status = keys.WriteIfUnchanged(key, EntryType.Hash, encoded, expiration, old);
        }
        while (KeySpace.IsOvertaken(status));

        if (status == WriteStatus.Stored)
        {
            session.Events.Notify(EventClasses.Hashes, "hset"u8, key);
            if (seconds != -1)
            {
                ExpirationCommands.Notify(session, key, expiration);
            }

            writer.WriteInteger(1);
        }
        else
        {
            writer.WriteError(RespErrors.Of(status));
        }
    }

    private static bool IsKnownScript(ReadOnlySpan<byte> script)
    {
        Span<byte> text = stackalloc byte[2 * DigestBytes];
        WriteDigest(script, text);
        return text.SequenceEqual(KnownDigest);
    }

#pragma warning disable CA5350 // The digest only names scripts in this protocol. It protects no secret.
    private static void WriteDigest(ReadOnlySpan<byte> script, Span<byte> text)
    {
        Span<byte> digest = stackalloc byte[DigestBytes];
        SHA1.HashData(script, digest);
        Convert.TryToHexStringLower(digest, text, out _);
    }
#pragma warning restore CA5350

    private static void Load(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (IsKnownScript(arguments[2]))
        {
            writer.WriteBulk(KnownDigest);
        }
        else
        {
            writer.WriteError(NotExecuted);
        }
    }

    private static void Exists(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.ResumeAt == 0)
        {
            writer.WriteArrayHeader(arguments.Count - 2);
        }

        for (int i = Math.Max(session.ResumeAt, 2); i < arguments.Count && !session.MustPause(i, ref writer); i++)
        {
            writer.WriteInteger(Text.EqualsIgnoreCase(arguments[i], KnownDigest) ? 1 : 0);
        }
    }

    private static void Flush(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 3 || (arguments.Count == 3 && !arguments.Is(2, "async"u8) && !arguments.Is(2, "sync"u8)))
        {
            writer.WriteError("ERR SCRIPT FLUSH only support SYNC|ASYNC option"u8);
        }
        else
        {
            writer.WriteOk();
        }
    }
}
