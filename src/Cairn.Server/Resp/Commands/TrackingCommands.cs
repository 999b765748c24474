using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Resp.Commands;

/// <summary>CLIENT TRACKING and related commands.</summary>
internal static class TrackingCommands
{
    private const CommandFlags Flags = CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale;

    // Each prefix is compared with the other prefixes of its client. The beginning of each key that changes is looked up once for each
    // length of a prefix.
    private const int MostPrefixes = 256;
    private const int LongestPrefix = 256;

    public static CommandInfo[] All { get; } =
    [
        Make("client|tracking", -3, Track),
        Make("client|caching", 3, Caching),
        Make("client|getredir", 2, GetRedirection),
        Make("client|trackinginfo", 2, Info),
    ];

    private static CommandInfo Make(string name, int arity, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = Flags, Group = "connection", Handler = handler };

    private static void Track(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isBroadcast = false;
        bool isOptIn = false;
        bool isOptOut = false;
        bool isNoLoop = false;
        long redirection = 0;
        List<byte[]> prefixes = [];
        for (int i = 3; i < arguments.Count; i++)
        {
            bool hasMore = i + 1 < arguments.Count;
            if (arguments.Is(i, "redirect"u8) && hasMore)
            {
                if (!TryReadRedirection(session, arguments[++i], ref redirection, ref writer))
                {
                    return;
                }
            }
            else if (arguments.Is(i, "prefix"u8) && hasMore)
            {
                prefixes.Add(arguments[++i].ToArray());
            }
            else if (arguments.Is(i, "bcast"u8))
            {
                isBroadcast = true;
            }
            else if (arguments.Is(i, "optin"u8))
            {
                isOptIn = true;
            }
            else if (arguments.Is(i, "optout"u8))
            {
                isOptOut = true;
            }
            else if (arguments.Is(i, "noloop"u8))
            {
                isNoLoop = true;
            }
            else
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }
        }

        if (arguments.Is(2, "off"u8))
        {
            session.Track(null);
            writer.WriteOk();
            return;
        }

        if (!arguments.Is(2, "on"u8))
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        var state = new TrackingState
        {
            IsBroadcast = isBroadcast,
            IsOptIn = isOptIn,
            IsOptOut = isOptOut,
            IsNoLoop = isNoLoop,
            Redirection = redirection,
            Prefixes = [.. session.Tracking?.Prefixes ?? [], .. prefixes],
        };
        if (!IsPossible(session.Tracking, state, prefixes, ref writer) || !TryLimit(session, ref state, prefixes, ref writer))
        {
            return;
        }

        session.Track(state);
        writer.WriteOk();
    }

    private static bool TryReadRedirection(RespSession session, ReadOnlySpan<byte> id, ref long redirection, ref RespWriter writer)
    {
        if (redirection != 0)
        {
            writer.WriteError("ERR A client can only redirect to a single other client"u8);
        }
        else if (!Text.TryParse(id, out redirection))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else if (!session.Server.TryFind(redirection, out _))
        {
            writer.WriteError("ERR The client ID you want redirect to does not exist"u8);
        }
        else
        {
            return true;
        }

        return false;
    }

    private static bool IsPossible(TrackingState? before, TrackingState after, List<byte[]> prefixes, ref RespWriter writer)
    {
        if (!after.IsBroadcast && prefixes.Count > 0)
        {
            writer.WriteError("ERR PREFIX option requires BCAST mode to be enabled"u8);
        }
        else if (before is not null && before.IsBroadcast != after.IsBroadcast)
        {
            writer.WriteError("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."u8);
        }
        else if (after.IsBroadcast && (after.IsOptIn || after.IsOptOut))
        {
            writer.WriteError("ERR OPTIN and OPTOUT are not compatible with BCAST"u8);
        }
        else if (after.IsOptIn && after.IsOptOut)
        {
            writer.WriteError("ERR You can't specify both OPTIN mode and OPTOUT mode"u8);
        }
        else if ((after.IsOptIn && before is { IsOptOut: true }) || (after.IsOptOut && before is { IsOptIn: true }))
        {
            writer.WriteError("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."u8);
        }
        else if (after.Prefixes.Length > MostPrefixes)
        {
            writer.WriteError(Text.Bytes($"ERR a client follows at most {MostPrefixes} prefixes"));
        }
        else if (prefixes.Exists(prefix => prefix.Length > LongestPrefix))
        {
            writer.WriteError(Text.Bytes($"ERR a prefix that a client follows has at most {LongestPrefix} bytes"));
        }
        else
        {
            return IsDistinct(before?.Prefixes ?? [], prefixes, ref writer);
        }

        return false;
    }

    private static bool IsDistinct(byte[][] before, List<byte[]> prefixes, ref RespWriter writer)
    {
        for (int i = 0; i < prefixes.Count; i++)
        {
            foreach (byte[] other in before)
            {
                if (Overlap(prefixes[i], other))
                {
                    WriteOverlap(prefixes[i], "an existing prefix", other, ref writer);
                    return false;
                }
            }

            for (int j = i + 1; j < prefixes.Count; j++)
            {
                if (Overlap(prefixes[i], prefixes[j]))
                {
                    WriteOverlap(prefixes[i], "another provided prefix", prefixes[j], ref writer);
                    return false;
                }
            }
        }

        return true;
    }

    private static bool Overlap(byte[] one, byte[] other) => one.AsSpan().StartsWith(other) || other.AsSpan().StartsWith(one);

    private static void WriteOverlap(byte[] prefix, string what, byte[] other, ref RespWriter writer) =>
        writer.WriteError(Text.Bytes(
            $"ERR Prefix '{Text.Latin(prefix)}' overlaps with {what} '{Text.Latin(other)}'. Prefixes for a single client must not overlap."));

    // In broadcast mode, a client without prefixes receives all keys, or all keys that its user may access.
    private static bool TryLimit(RespSession session, ref TrackingState state, List<byte[]> prefixes, ref RespWriter writer)
    {
        if (!state.IsBroadcast)
        {
            return true;
        }

        byte[] own = session.User!.KeyPrefix;
        if (prefixes.Count == 0)
        {
            if (!Array.Exists(state.Prefixes, prefix => prefix.AsSpan().SequenceEqual(own)))
            {
                state = state with { Prefixes = [own, .. state.Prefixes] };
            }

            return true;
        }

        if (!prefixes.TrueForAll(prefix => prefix.AsSpan().StartsWith(own)))
        {
            writer.WriteError(RespErrors.NoPermissionForKey);
            return false;
        }

        return true;
    }

    private static void Caching(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.Tracking is not { } state)
        {
            writer.WriteError("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"u8);
        }
        else if (arguments.Is(2, "yes"u8) && !state.IsOptIn)
        {
            writer.WriteError("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."u8);
        }
        else if (arguments.Is(2, "no"u8) && !state.IsOptOut)
        {
            writer.WriteError("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."u8);
        }
        else if (!arguments.Is(2, "yes"u8) && !arguments.Is(2, "no"u8))
        {
            writer.WriteError(RespErrors.Syntax);
        }
        else
        {
            session.IsCachingException = true;
            writer.WriteOk();
        }
    }

    private static void GetRedirection(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(session.Tracking?.Redirection ?? -1);

    private static void Info(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        List<string> flags = [session.Tracking is null ? "off" : "on"];
        if (session.Tracking is { } state)
        {
            Add(state.IsBroadcast, "bcast");
            Add(state.IsOptIn, "optin");
            Add(state.IsOptIn && session.IsCachingException, "caching-yes");
            Add(state.IsOptOut, "optout");
            Add(state.IsOptOut && session.IsCachingException, "caching-no");
            Add(state.IsNoLoop, "noloop");
            Add(session.IsRedirectionBroken, "broken_redirect");
        }

        writer.WriteMapHeader(3);
        writer.WriteBulk("flags"u8);
        writer.WriteSetHeader(flags.Count);
        foreach (string flag in flags)
        {
            writer.WriteText(flag);
        }

        writer.WriteBulk("redirect"u8);
        writer.WriteInteger(session.Tracking?.Redirection ?? -1);
        writer.WriteBulk("prefixes"u8);
        byte[][] prefixes = session.Tracking?.Prefixes ?? [];
        writer.WriteArrayHeader(prefixes.Length);
        foreach (byte[] prefix in prefixes.OrderBy(prefix => Text.Latin(prefix), StringComparer.Ordinal))
        {
            writer.WriteBulk(prefix);
        }

        void Add(bool isSo, string flag)
        {
            if (isSo)
            {
                flags.Add(flag);
            }
        }
    }
}
