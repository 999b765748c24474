using System.Text;

namespace Cairn.Server.Resp.PubSub;

/// <summary>The subscriptions of all clients to channels and patterns. Thread-safe.</summary>
internal sealed class PubSubHub
{
    private const int LongestNameOnStack = 256;

    private readonly Lock _lock = new();

    // Names as Text.Latin creates them from bytes.
    private readonly Dictionary<string, List<RespSession>> _channels = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<RespSession>> _patterns = new(StringComparer.Ordinal);
    private readonly Dictionary<string, KeyFilter> _filters = new(StringComparer.Ordinal);

    private readonly Dictionary<string, List<RespSession>>.AlternateLookup<ReadOnlySpan<char>> _channelsBySpan;

    // Lets publishers skip the lock when there are no subscribers. A client that is subscribing gets the messages that are published
    // after the reply to its subscription.
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

    /// <summary>Adds the receivers of a message on this channel: first subscribers of the channel, then of patterns. A client that
    /// subscribed twice is added twice.</summary>
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

    /// <summary>Returns the channels that have subscribers by name.</summary>
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
