namespace Cairn.Server.Metrics;

/// <summary>A request that took long.</summary>
internal sealed record SlowRequest
{
    /// <summary>Bytes of an argument that are kept.</summary>
    public const int MaxArgumentBytes = 128;

    /// <summary>Arguments that are kept, the command included.</summary>
    public const int MaxArguments = 32;

    /// <summary>Counts up from 0; given by the log.</summary>
    public long Id { get; init; }

    /// <summary>When it was done.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>How long it was executed.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>memcached or resp.</summary>
    public required string Protocol { get; init; }

    /// <summary>The client's address.</summary>
    public required string Client { get; init; }

    /// <summary>As the client named itself; empty if it did not.</summary>
    public string ClientName { get; init; } = "";

    /// <summary>The command and what followed it, cut short: see <see cref="Cut"/>. No passwords; beginnings of
    /// values, where the protocol has them among the arguments.</summary>
    public required IReadOnlyList<byte[]> Arguments { get; init; }

    /// <summary>The command and what it was first about, a key as a rule, for a line of a log.</summary>
    public string Summary
    {
        get
        {
            const int MostLetters = 64;
            var text = new System.Text.StringBuilder();
            foreach (byte letter in Arguments.Take(2).SelectMany(argument => argument.Prepend((byte)' ')).Skip(1).Take(MostLetters))
            {
                text.Append(letter is >= 0x20 and < 0x7F ? (char)letter : '?'); // A key may hold anything, line ends too.
            }

            return text.ToString();
        }
    }

    /// <summary>What is kept of an argument.</summary>
    public static byte[] Cut(ReadOnlySpan<byte> argument)
    {
        if (argument.Length <= MaxArgumentBytes)
        {
            return argument.ToArray();
        }

        ReadOnlySpan<byte> rest = System.Text.Encoding.ASCII.GetBytes($"... ({argument.Length - MaxArgumentBytes} more bytes)");
        return [.. argument[..MaxArgumentBytes], .. rest];
    }
}

/// <summary>The requests that took longest to be noticed: the latest of those above a threshold. Bounded; any thread.</summary>
internal sealed class SlowLog
{
    /// <summary>The <see cref="ThresholdNs"/> of a log that takes nothing.</summary>
    public const long Off = long.MaxValue;

    /// <summary>Redis' own: 10 ms.</summary>
    public static readonly TimeSpan DefaultThreshold = TimeSpan.FromMilliseconds(10);

    private readonly Lock _lock = new();
    private readonly LinkedList<SlowRequest> _entries = [];
    private int _capacity = 128;
    private long _nextId;
    private long _thresholdNs = (long)DefaultThreshold.TotalNanoseconds;

    /// <summary>Called with each one that is added, on the thread that adds it; must not block.</summary>
    public Action<SlowRequest>? Added { get; set; }

    /// <summary>What takes this long or longer is slow; zero for everything, <see cref="Timeout.InfiniteTimeSpan"/> for nothing.
    /// Default 10 ms.</summary>
    public TimeSpan Threshold
    {
        get => ThresholdNs == Off ? Timeout.InfiniteTimeSpan : TimeSpan.FromMicroseconds(ThresholdNs / 1e3);
        set => Volatile.Write(ref _thresholdNs, value < TimeSpan.Zero ? Off : (long)value.TotalNanoseconds);
    }

    /// <summary>The same in nanoseconds; <see cref="Off"/> for nothing. A stale one lets one request more or less in.</summary>
    public long ThresholdNs => Volatile.Read(ref _thresholdNs);

    /// <summary>How many are kept. Default 128.</summary>
    public int Capacity
    {
        get => Volatile.Read(ref _capacity);
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            lock (_lock)
            {
                _capacity = value;
                Trim();
            }
        }
    }

    /// <summary>How many are kept now.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _entries.Count;
            }
        }
    }

    /// <summary>How many there have been since the start.</summary>
    public long Total => Volatile.Read(ref _nextId);

    /// <summary>Adds one, and gives it its number.</summary>
    public void Add(SlowRequest request)
    {
        lock (_lock)
        {
            request = request with { Id = _nextId };
            Volatile.Write(ref _nextId, _nextId + 1);
            _entries.AddFirst(request);
            Trim();
        }

        Added?.Invoke(request);
    }

    /// <summary>The latest, latest first.</summary>
    public SlowRequest[] Latest(int count)
    {
        lock (_lock)
        {
            return [.. _entries.Take(count)];
        }
    }

    /// <summary>Forgets those that are kept.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            _entries.Clear();
        }
    }

    private void Trim()
    {
        while (_entries.Count > _capacity)
        {
            _entries.RemoveLast();
        }
    }
}
