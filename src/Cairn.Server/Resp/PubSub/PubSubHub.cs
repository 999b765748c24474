namespace Cairn.Server.Resp.PubSub;

/// <summary>The subscriptions of all clients to channels and patterns. Thread-safe.</summary>
internal sealed class PubSubHub
{
    /// <summary>The number of patterns without a star that are compared in the time of one ordinary key.</summary>
    public const int PatternsOfElement = 8;

    private const int LongestNameOnStack = 256;

    private readonly Lock _lock = new();

    // Names as Text.Latin creates them from bytes.
    private readonly Dictionary<string, List<ISubscriber>> _channels = new(StringComparer.Ordinal);
    private readonly Dictionary<string, PatternSubscription> _patterns = new(StringComparer.Ordinal);
    private PatternSubscription[]? _allPatterns; // A copy for publishers; null if it is out of date.

    private readonly Dictionary<string, List<ISubscriber>>.AlternateLookup<ReadOnlySpan<char>> _channelsBySpan;

    // Lets publishers skip the lock when there are no subscribers. A client that is subscribing gets the messages that are published
    // after the reply to its subscription.
    private volatile int _subscriptions;

    public PubSubHub() => _channelsBySpan = _channels.GetAlternateLookup<ReadOnlySpan<char>>();

    /// <summary>Gets the number of channels with subscribers. Thread-safe, approximate.</summary>
    public int ChannelCount => _channels.Count;

    /// <summary>Gets the number of patterns with subscribers. Thread-safe, approximate.</summary>
    public int PatternCount => _patterns.Count;

    /// <summary>Gets the subscriptions to patterns at this moment.</summary>
    public PatternSubscription[] Patterns
    {
        get
        {
            if (_subscriptions == 0)
            {
                return [];
            }

            lock (_lock)
            {
                return _allPatterns ??= [.. _patterns.Values];
            }
        }
    }

    public void Add(ISubscriber subscriber, string name, bool isPattern)
    {
        lock (_lock)
        {
            if (isPattern)
            {
                if (!_patterns.TryGetValue(name, out PatternSubscription? pattern))
                {
                    _patterns[name] = pattern = new PatternSubscription(name);
                    _allPatterns = null;
                }

                pattern.Subscribers.Add(subscriber);
            }
            else
            {
                if (!_channels.TryGetValue(name, out List<ISubscriber>? subscribers))
                {
                    _channels[name] = subscribers = [];
                }

                subscribers.Add(subscriber);
            }

            _subscriptions++;
        }
    }

    public void Remove(ISubscriber subscriber, string name, bool isPattern)
    {
        lock (_lock)
        {
            List<ISubscriber>? subscribers = isPattern ? _patterns.GetValueOrDefault(name)?.Subscribers : _channels.GetValueOrDefault(name);
            if (subscribers is null || !subscribers.Remove(subscriber))
            {
                return;
            }

            _subscriptions--;
            if (subscribers.Count > 0)
            {
                return;
            }

            if (isPattern)
            {
                _patterns.Remove(name);
                _allPatterns = null;
            }
            else
            {
                _channels.Remove(name);
            }
        }
    }

    /// <summary>Adds the receivers of a message on this channel: first subscribers of the channel, then of patterns. A client that
    /// subscribed twice is added twice.</summary>
    public void FindReceivers(ReadOnlySpan<byte> channel, List<Receiver> receivers)
    {
        FindSubscribers(channel, receivers);
        foreach (PatternSubscription pattern in Patterns)
        {
            FindReceivers(pattern, channel, receivers);
        }
    }

    /// <summary>Adds the subscribers of this channel.</summary>
    public void FindSubscribers(ReadOnlySpan<byte> channel, List<Receiver> receivers)
    {
        if (_subscriptions == 0)
        {
            return;
        }

        Span<char> name = channel.Length <= LongestNameOnStack ? stackalloc char[channel.Length] : new char[channel.Length];
        Encoding.Latin1.GetChars(channel, name);
        lock (_lock)
        {
            if (_channelsBySpan.TryGetValue(name, out List<ISubscriber>? subscribers))
            {
                foreach (ISubscriber subscriber in subscribers)
                {
                    receivers.Add(new Receiver(subscriber, null));
                }
            }
        }
    }

    /// <summary>Adds the subscribers of a pattern, if this channel matches it. The comparison, which may take long, needs no
    /// lock.</summary>
    public void FindReceivers(
        PatternSubscription pattern, ReadOnlySpan<byte> channel, List<Receiver> receivers)
    {
        if (!pattern.Filter.Matches(channel))
        {
            return;
        }

        lock (_lock)
        {
            foreach (ISubscriber subscriber in pattern.Subscribers)
            {
                receivers.Add(new Receiver(subscriber, pattern.Name));
            }
        }
    }

    /// <summary>Returns the names of the channels that have subscribers.</summary>
    public string[] FindChannels()
    {
        lock (_lock)
        {
            return [.. _channels.Keys];
        }
    }

    public int CountSubscribers(ReadOnlySpan<byte> channel)
    {
        lock (_lock)
        {
            return _channels.TryGetValue(Text.Latin(channel), out List<ISubscriber>? subscribers) ? subscribers.Count : 0;
        }
    }
}

/// <summary>A pattern and its subscribers, which the hub's lock protects.</summary>
internal sealed class PatternSubscription(string name)
{
    public string Name { get; } = name;

    public KeyFilter Filter { get; } = KeyFilter.Glob(Text.Bytes(name));

    public List<ISubscriber> Subscribers { get; } = [];
}
