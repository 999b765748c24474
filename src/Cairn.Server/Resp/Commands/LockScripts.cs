using Cairn.Engine;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>What a script does with a key that has the caller's token.</summary>
internal enum HeldAction
{
    Delete,
    ExpireMilliseconds,
    ExpireSeconds,

    /// <summary>Adds ARGV[2] milliseconds to the time to live, or replaces it if ARGV[3] is not 0.</summary>
    Extend,

    /// <summary>Returns the time to live in milliseconds.</summary>
    Remaining,
}

// The scripts of lock libraries. A lock is a key whose value is its holder's token. KEYS[1] is the lock, ARGV[1] the caller's token and
// ARGV[2] a time. The partitions of all keys are held, so nothing changes between the comparison and the action.
internal static class LockScripts
{
    // Other clients of the worker wait while a script is executed. A lease needs three keys and four commands of at most eight words.
    private const int MostCommands = 8;
    private const int MostWords = 64;

    /// <summary>Creates the handler of a script that compares one key with the caller's token.</summary>
    /// <param name="held">What it does if they are equal. Its reply is 1, or the time to live.</param>
    /// <param name="missing">Its reply if the key does not exist.</param>
    /// <param name="other">Its reply if the key has another value.</param>
    /// <param name="mayAcquire">Whether it sets a missing key, for ARGV[2] milliseconds.</param>
    public static ScriptHandler Make(HeldAction held, int? missing = 0, int? other = 0, bool mayAcquire = false) =>
        (RespSession session, scoped in ScriptCall call, ref RespWriter writer) =>
        {
            if (!TryRead(session, call.Key(1), out ReadOnlySpan<byte> value, out EntryInfo info, ref writer))
            {
                return;
            }

            if (info.Version == 0 && mayAcquire)
            {
                Set(session, call, 1, 1, ref writer);
            }
            else if (info.Version == 0 || !value.SequenceEqual(call.Argument(1)))
            {
                if ((info.Version == 0 ? missing : other) is { } reply)
                {
                    writer.WriteInteger(reply);
                }
                else
                {
                    writer.WriteNull();
                }
            }
            else
            {
                Act(session, call, held, info, ref writer);
            }
        };

    /// <summary>Creates the handler of a script that first tries to select the database ARGV[1]. The only database is selected already.</summary>
    public static ScriptHandler InDatabase(ScriptHandler handler) =>
        (RespSession session, scoped in ScriptCall call, ref RespWriter writer) => handler(session, call.WithoutFirstArgument(), ref writer);

    /// <summary>Sets all keys if none exists. Returns their number, or 0.</summary>
    public static void AcquireAll(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        for (int i = 1; i <= call.KeyCount; i++)
        {
            if (session.Keys.TryGetInfo(call.Key(i), out _))
            {
                writer.WriteInteger(0);
                return;
            }
        }

        Set(session, call, 1, call.KeyCount, ref writer);
    }

    /// <summary>Sets all keys again if all have the token. Returns their number, or 0.</summary>
    public static void ExtendAll(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        for (int i = 1; i <= call.KeyCount; i++)
        {
            if (!TryRead(session, call.Key(i), out ReadOnlySpan<byte> value, out EntryInfo info, ref writer))
            {
                return;
            }

            if (info.Version == 0 || !value.SequenceEqual(call.Argument(1)))
            {
                writer.WriteInteger(0);
                return;
            }
        }

        Set(session, call, 1, call.KeyCount, ref writer);
    }

    /// <summary>Deletes the keys that have the token. Returns their number.</summary>
    public static void ReleaseAll(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        int released = 0;
        for (int i = 1; i <= call.KeyCount; i++)
        {
            if (!TryRead(session, call.Key(i), out ReadOnlySpan<byte> value, out EntryInfo info, ref writer))
            {
                return;
            }

            if (info.Version != 0 && value.SequenceEqual(call.Argument(1)))
            {
                Delete(session, call.Key(i));
                released++;
            }
        }

        writer.WriteInteger(released);
    }

    /// <summary>Acquires a lease of Cairn.Redis: sets KEYS[2] unless it exists. Returns 1, or 0 if it exists, or 2 if KEYS[1] exists and ARGV[3] is 1.</summary>
    public static void AcquireLease(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        if (call.Argument(3).SequenceEqual("1"u8) && session.Keys.TryGetInfo(call.Key(1), out _))
        {
            writer.WriteInteger(2);
        }
        else
        {
            Set(session, call, 2, 2, ref writer, onlyIfMissing: true);
        }
    }

    /// <summary>
    /// Executes commands if KEYS[1] has the token, such as those that set a value and release the lease. ARGV[2] is the number of words of the first
    /// command, and its words follow; then the next one. Returns 1, or 0 if the key does not have the token.
    /// </summary>
    public static void RunIfHeld(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        if (!TryRead(session, call.Key(1), out ReadOnlySpan<byte> value, out EntryInfo info, ref writer))
        {
            return;
        }

        if (info.Version == 0 || !value.SequenceEqual(call.Argument(1)))
        {
            writer.WriteInteger(0);
            return;
        }

        int words = 0;
        int commands = 0;
        for (int at = 2; at < call.ArgumentCount; at += words + 1)
        {
            if (++commands > MostCommands || call.KeyCount > MostCommands || !Text.TryParse(call.Argument(at), out long count)
                || count < 1 || count > Math.Min(MostWords, call.ArgumentCount - at))
            {
                writer.WriteError(Text.Bytes(
                    $"ERR the script takes a token and at most {MostCommands} commands on {MostCommands} keys, each as the number of its words, at most {MostWords}, and the words"));
                return;
            }

            words = (int)count;
            if (!session.TryExecuteInScript(call.Command(at + 1, words), call, ref writer))
            {
                return;
            }
        }

        writer.WriteInteger(1);
    }

    // Reads a lock. A missing one has the version 0. Returns false, and writes the error, if the key has no value but a hash.
    private static bool TryRead(
        RespSession session, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value, out EntryInfo info, ref RespWriter writer)
    {
        if (!session.Keys.TryRead(key, out value, out info))
        {
            info = default;
        }
        else if (info.Type == EntryType.Hash)
        {
            writer.WriteError(RespErrors.WrongType);
            return false;
        }

        return true;
    }

    private static void Act(RespSession session, scoped in ScriptCall call, HeldAction action, in EntryInfo info, ref RespWriter writer)
    {
        long remaining = info.DeadlineUnixMs == long.MaxValue ? -1 : Math.Max(0, info.DeadlineUnixMs - session.Keys.NowMs);
        if (action == HeldAction.Delete)
        {
            Delete(session, call.Key(1));
            writer.WriteInteger(1);
        }
        else if (action == HeldAction.Remaining)
        {
            writer.WriteInteger(remaining);
        }
        else if (action == HeldAction.Extend && remaining < 0)
        {
            writer.WriteInteger(0);
        }
        else if (!Text.TryParse(call.Argument(2), out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else
        {
            long unit = action == HeldAction.ExpireSeconds ? 1000 : 1;
            long start = session.Keys.NowMs + (action == HeldAction.Extend && call.ArgumentCount > 2 && call.Argument(3).SequenceEqual("0"u8) ? remaining : 0);
            if (time < long.MinValue / unit || time > (long.MaxValue - start) / unit)
            {
                writer.WriteError(SetOptions.InvalidExpiration(unit == 1 ? "pexpire" : "expire"));
                return;
            }

            ResolvedExpiration expiration = session.Keys.At(start + (time * unit));
            WriteStatus status = session.Keys.Touch(call.Key(1), expiration, info);
            if (status == WriteStatus.Stored)
            {
                ExpirationCommands.Notify(session, call.Key(1), expiration);
                writer.WriteInteger(1);
            }
            else
            {
                writer.WriteError(RespErrors.Of(status));
            }
        }
    }

    private static void Delete(RespSession session, ReadOnlySpan<byte> key)
    {
        if (session.Keys.Remove(key))
        {
            session.Events.Notify(EventClasses.Generic, "del"u8, key);
        }
    }

    // Sets the keys with these numbers to ARGV[1] for ARGV[2] milliseconds, and returns how many they are; 0 if the first one must be missing and exists.
    private static void Set(RespSession session, scoped in ScriptCall call, int first, int last, ref RespWriter writer, bool onlyIfMissing = false)
    {
        if (!Text.TryParse(call.Argument(2), out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        if (!SetOptions.TryResolve(time, isMilliseconds: true, isRelative: true, session.Keys.NowMs, out long moment))
        {
            writer.WriteError(SetOptions.InvalidExpiration("set"));
            return;
        }

        if (onlyIfMissing && session.Keys.TryGetInfo(call.Key(first), out _))
        {
            writer.WriteInteger(0);
            return;
        }

        ResolvedExpiration expiration = session.Keys.At(moment);
        for (int i = first; i <= last; i++)
        {
            WriteStatus status = session.Keys.Write(call.Key(i), EntryType.Value, call.Argument(1), expiration);
            StringCommands.NotifyIfStored(session, call.Key(i), status, expiration);
            if (status != WriteStatus.Stored)
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }

        writer.WriteInteger(last - first + 1);
    }
}
