using System.Text;

namespace Cairn.Server.Resp.PubSub;

/// <summary>Who gets which messages. Safe from any worker.</summary>
internal sealed class PubSubHub
{
    private const int LongestNameOnStack = 256;

    private readonly Lock _lock = new();

    // Names as Text.Latin makes them from bytes.
    private readonly Dictionary<string, List<RespSession>> _channels = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<RespSession>> _patterns = new(StringComparer.Ordinal);
    private readonly Dictionary<string, KeyFilter> _filters = new(StringComparer.Ordinal);

    private readonly Dictionary<string, List<RespSession>>.AlternateLookup<ReadOnlySpan<char>> _channelsBySpan;

    // Known without the lock that nobody listens; a subscriber that is just coming gets what is published after its reply.
    private volatile int _subscriptions;

    public PubSubHub() => _channelsBySpan = _channels.GetAlternateLookup<ReadOnlySpan<char>>();

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

    /// <summary>Adds those to whom a message on this channel goes, by channel first; one that subscribed twice is there twice.</summary>
    public void FindReceivers(ReadOnlySpan<byte> channel, List<(RespSession Session, string? Pattern)> receivers)
    {
        if (_subscriptions == 0)
        {
            return;
        }

        Span<char> name = channel.Length <= LongestNameOnStack ? stackalloc char[channel.Length] : new char[channel.Length];
        Encoding.Latin1.GetChars(channel, name);
        lock (_lock)
        {
            if (_channelsBySpan.TryGetValue(name, out List<RespSession>? sessions))
            {
                foreach (RespSession session in sessions)
                {
                    receivers.Add((session, null));
                }
            }

            foreach ((string pattern, List<RespSession> matching) in _patterns)
            {
                if (_filters[pattern].Matches(channel))
                {
                    foreach (RespSession session in matching)
                    {
                        receivers.Add((session, pattern));
                    }
                }
            }
        }
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
