namespace Cairn.Server.Resp.Commands;

/// <summary>A command with options of SET.</summary>
internal enum OptionsOf
{
    Set,
    MSetEx,
    GetEx,
}

/// <summary>The options of SET, MSETEX and GETEX. They are parsed and checked in two steps, as in Redis.</summary>
internal struct SetOptions
{
    private TimeForm _form;
    private int _timeArgument;

    // The form of a time. Only one form may occur, but it may be repeated.
    private enum TimeForm
    {
        None,
        Seconds,
        Milliseconds,
        MomentSeconds,
        MomentMilliseconds,
    }

    public bool IfAbsent { get; set; }

    public bool IfPresent { get; private set; }

    public bool ReturnsOld { get; set; }

    public bool KeepsExpiration { get; private set; }

    public bool Persists { get; private set; }

    public ValueCondition Condition { get; private set; }

    public bool HasMoment { get; private set; }

    public long MomentMs { get; private set; }

    /// <summary>Converts a command's time to a Unix time. Returns false if it is not valid.</summary>
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

    /// <summary>Reads the options, beginning at an argument. Returns false if they are not valid.</summary>
    public bool TryParse(scoped in RespArguments arguments, int first, OptionsOf command)
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
            else if (command == OptionsOf.Set && ValueCondition.KindAt(arguments, i) is not ConditionKind.None and var kind)
            {
                if (IfAbsent || IfPresent || (Condition.Kind != ConditionKind.None && Condition.Kind != kind) || i + 1 == arguments.Count)
                {
                    return false;
                }

                Condition = new ValueCondition(kind, ++i);
            }
            else if (!TryParseWord(arguments, i, command))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Determines the expiration, if there is one. Returns false, after writing the error, if it is not valid.</summary>
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

    private bool TryParseWord(scoped in RespArguments arguments, int i, OptionsOf command)
    {
        if (command == OptionsOf.GetEx)
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
        else if (arguments.Is(i, "get"u8) && command == OptionsOf.Set)
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
