namespace Cairn.Server.Resp.PubSub;

/// <summary>Who gets which messages. Safe from any worker.</summary>
internal sealed class PubSubHub
{
    private readonly Lock _lock = new();

    // Names as Text.Latin makes them from bytes.
    private readonly Dictionary<string, List<RespSession>> _channels = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<RespSession>> _patterns = new(StringComparer.Ordinal);
    private readonly Dictionary<string, KeyFilter> _filters = new(StringComparer.Ordinal);

    // Known without the lock that nobody listens; a subscriber that is just coming gets what is published after its reply.
    private volatile int _subscriptions;

    public int PatternCount
    {
        get
        {
            lock (_lock)
            {
                return _patterns.Count;
            }
        }
    }

    public void Add(RespSession session, string name, bool isPattern)
    {
        lock (_lock)
        {
            Dictionary<string, List<RespSession>> all = isPattern ? _patterns : _channels;
            if (!all.TryGetValue(name, out List<RespSession>? sessions))
            {
                all[name] = sessions = [];
                if (isPattern)
                {
                    _filters[name] = KeyFilter.Glob(Text.Bytes(name));
                }
            }

            sessions.Add(session);
            _subscriptions++;
        }
    }

    public void Remove(RespSession session, string name, bool isPattern)
    {
        lock (_lock)
        {
            Dictionary<string, List<RespSession>> all = isPattern ? _patterns : _channels;
            if (!all.TryGetValue(name, out List<RespSession>? sessions) || !sessions.Remove(session))
            {
                return;
            }

            _subscriptions--;
            if (sessions.Count == 0)
            {
                all.Remove(name);
                if (isPattern)
                {
                    _filters.Remove(name);
                }
            }
        }
    }

    /// <summary>Those to whom a message on this channel goes, by channel first; one that subscribed twice is there twice.</summary>
    public IReadOnlyList<(RespSession Session, string? Pattern)> FindReceivers(ReadOnlySpan<byte> channel)
    {
        if (_subscriptions == 0)
        {
            return [];
        }

        var receivers = new List<(RespSession Session, string? Pattern)>();
        lock (_lock)
        {
            if (_channels.TryGetValue(Text.Latin(channel), out List<RespSession>? sessions))
            {
                receivers.AddRange(sessions.Select(session => (session, (string?)null)));
            }

            foreach ((string pattern, List<RespSession> matching) in _patterns)
            {
                if (_filters[pattern].Matches(channel))
                {
                    receivers.AddRange(matching.Select(session => (session, (string?)pattern)));
                }
            }
        }

        return receivers;
    }

    /// <summary>Channels that somebody subscribed to by name.</summary>
    public IReadOnlyList<string> FindChannels(KeyFilter? filter)
    {
        lock (_lock)
        {
            return [.. _channels.Keys.Where(channel => filter is null || filter.Matches(Text.Bytes(channel)))];
        }
    }

    public int CountSubscribers(ReadOnlySpan<byte> channel)
    {
        lock (_lock)
        {
            return _channels.TryGetValue(Text.Latin(channel), out List<RespSession>? sessions) ? sessions.Count : 0;
        }
    }
}
