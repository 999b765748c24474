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
                SetFirst(session, call, 1, ref writer);
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

        SetFirst(session, call, call.KeyCount, ref writer);
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

        SetFirst(session, call, call.KeyCount, ref writer);
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
            WriteStatus status = session.Keys.Touch(call.Key(1), expiration, info.Version);
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

    // Sets the first keys to ARGV[1] for ARGV[2] milliseconds, and returns their number.
    private static void SetFirst(RespSession session, scoped in ScriptCall call, int count, ref RespWriter writer)
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

        ResolvedExpiration expiration = session.Keys.At(moment);
        for (int i = 1; i <= count; i++)
        {
            WriteStatus status = session.Keys.Write(call.Key(i), EntryType.Value, call.Argument(1), expiration);
            StringCommands.NotifyIfStored(session, call.Key(i), status, expiration);
            if (status != WriteStatus.Stored)
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }

        writer.WriteInteger(count);
    }
}
