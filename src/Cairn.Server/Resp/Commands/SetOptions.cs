using System.Text;
using Cairn.Protocol;

namespace Cairn.Server.Resp.Commands;

/// <summary>What SET and GETEX are asked for beyond key and value. Parsed and checked in two steps, as Redis does.</summary>
internal struct SetOptions
{
    private TimeForm _form;
    private int _timeArgument;

    // How a time is given; only one form may be, but that one more than once.
    private enum TimeForm
    {
        None,
        Seconds,
        Milliseconds,
        MomentSeconds,
        MomentMilliseconds,
    }

    public bool IfAbsent { get; private set; }

    public bool IfPresent { get; private set; }

    public bool ReturnsOld { get; set; }

    public bool KeepsExpiration { get; private set; }

    public bool Persists { get; private set; }

    public bool HasMoment { get; private set; }

    public long MomentMs { get; private set; }

    /// <summary>Makes a time of a command into a moment. False if it is not a valid one.</summary>
    public static bool TryResolve(long time, bool isMilliseconds, bool isRelative, long nowMs, out long momentMs)
    {
        momentMs = 0;
        if (time <= 0 || (!isMilliseconds && time > long.MaxValue / 1000))
        {
            return false;
        }

        time = isMilliseconds ? time : time * 1000;
        if (isRelative && time > long.MaxValue - nowMs)
        {
            return false;
        }

        momentMs = isRelative ? time + nowMs : time;
        return true;
    }

    public static byte[] InvalidExpiration(string command) =>
        Encoding.ASCII.GetBytes($"ERR invalid expire time in '{command}' command");

    /// <summary>Reads the options from an argument on. False if they make no sense.</summary>
    public bool TryParse(scoped in RespArguments arguments, int first, bool isSet)
    {
        for (int i = first; i < arguments.Count; i++)
        {
            TimeForm form = FormOf(arguments, i);
            if (form != TimeForm.None)
            {
                if ((_form != TimeForm.None && _form != form) || KeepsExpiration || Persists || i + 1 == arguments.Count)
                {
                    return false;
                }

                _form = form;
                _timeArgument = ++i;
            }
            else if (!TryParseWord(arguments, i, isSet))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Finds the moment that was asked for, if one was. False if it is not valid; the error is written then.</summary>
    public bool TryResolve(scoped in RespArguments arguments, long nowMs, string command, ref RespWriter writer)
    {
        if (_form == TimeForm.None)
        {
            return true;
        }

        if (!Text.TryParse(arguments[_timeArgument], out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return false;
        }

        bool isRelative = _form is TimeForm.Seconds or TimeForm.Milliseconds;
        bool isMilliseconds = _form is TimeForm.Milliseconds or TimeForm.MomentMilliseconds;
        HasMoment = TryResolve(time, isMilliseconds, isRelative, nowMs, out long moment);
        MomentMs = moment;
        if (!HasMoment)
        {
            writer.WriteError(InvalidExpiration(command));
        }

        return HasMoment;
    }

    private static TimeForm FormOf(scoped in RespArguments arguments, int i) =>
        arguments.Is(i, "ex"u8) ? TimeForm.Seconds
        : arguments.Is(i, "px"u8) ? TimeForm.Milliseconds
        : arguments.Is(i, "exat"u8) ? TimeForm.MomentSeconds
        : arguments.Is(i, "pxat"u8) ? TimeForm.MomentMilliseconds
        : TimeForm.None;

    private bool TryParseWord(scoped in RespArguments arguments, int i, bool isSet)
    {
        if (!isSet)
        {
            Persists = arguments.Is(i, "persist"u8) && _form == TimeForm.None;
            return Persists;
        }

        if (arguments.Is(i, "nx"u8) && !IfPresent)
        {
            IfAbsent = true;
        }
        else if (arguments.Is(i, "xx"u8) && !IfAbsent)
        {
            IfPresent = true;
        }
        else if (arguments.Is(i, "get"u8))
        {
            ReturnsOld = true;
        }
        else if (arguments.Is(i, "keepttl"u8) && _form == TimeForm.None)
        {
            KeepsExpiration = true;
        }
        else
        {
            return false;
        }

        return true;
    }
}
