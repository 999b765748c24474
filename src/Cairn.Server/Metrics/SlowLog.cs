namespace Cairn.Server.Metrics;

/// <summary>A slow request.</summary>
internal sealed record SlowRequest
{
    /// <summary>The maximum number of bytes of an argument that are kept.</summary>
    public const int MaxArgumentBytes = 128;

    /// <summary>The maximum number of arguments that are kept, including the command.</summary>
    public const int MaxArguments = 32;

    // The size of heap objects beyond their content.
    private const int EntryBytes = 256;
    private const int ArgumentBytes = 32;

    /// <summary>Gets the number of the entry, from 0. The log assigns it.</summary>
    public long Id { get; init; }

    /// <summary>Gets the time at which the request was done.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>Gets the time that its execution took.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>Gets the protocol: memcached or resp.</summary>
    public required string Protocol { get; init; }

    /// <summary>Gets the client's address.</summary>
    public required string Client { get; init; }

    /// <summary>Gets the client's name for itself, cut to <see cref="MaxArgumentBytes"/> letters; empty if it has none.</summary>
    public string ClientName
    {
        get;
        init => field = value.Length <= MaxArgumentBytes ? value : value[..MaxArgumentBytes];
    }
    = "";

    /// <summary>Gets the command and its arguments, cut by <see cref="Cut"/>. They contain no passwords. They contain beginnings of
    /// values, if these are arguments in the protocol.</summary>
    public required IReadOnlyList<byte[]> Arguments { get; init; }

    /// <summary>Gets the command and its first argument, usually a key, for one line of a log.</summary>
    public string Summary
    {
        get
        {
            const int MostLetters = 64;
            var text = new System.Text.StringBuilder();
            foreach (byte letter in Arguments.Take(2).SelectMany(argument => argument.Prepend((byte)' ')).Skip(1).Take(MostLetters))
            {
                text.Append(letter is >= 0x20 and < 0x7F ? (char)letter : '?'); // A key may contain any byte, including line ends.
            }

            return text.ToString();
        }
    }

    /// <summary>Gets the approximate memory that the entry uses.</summary>
    public int Bytes => EntryBytes + (sizeof(char) * (Client.Length + ClientName.Length)) + Arguments.Sum(argument => argument.Length + ArgumentBytes);

    /// <summary>Cuts an argument to the part that is kept.</summary>
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

/// <summary>The latest requests that took as long as a threshold, or longer. The memory is limited. Thread-safe.</summary>
internal sealed class SlowLog
{
    /// <summary>The maximum number of bytes of entries, whatever the capacity. It is eleven times the maximum of the default's 128
    /// entries.</summary>
    public const int MaxBytes = 8 << 20;

    /// <summary>The <see cref="ThresholdNs"/> of a log that records nothing.</summary>
    public const long Off = long.MaxValue;

    /// <summary>The default of Redis: 10 ms.</summary>
    public static readonly TimeSpan DefaultThreshold = TimeSpan.FromMilliseconds(10);

    private readonly Lock _lock = new();
    private readonly LinkedList<SlowRequest> _entries = [];
    private int _capacity = 128;
    private long _nextId;
    private int _bytes;
    private long _thresholdNs = (long)DefaultThreshold.TotalNanoseconds;

    /// <summary>Gets or sets a function that is called with each added request, on the thread that adds it. It must not block.</summary>
    public Action<SlowRequest>? Added { get; set; }

    /// <summary>Gets or sets the time from which on a request is slow. Zero records everything, <see cref="Timeout.InfiniteTimeSpan"/>
    /// nothing. Default 10 ms.</summary>
    public TimeSpan Threshold
    {
        get => ThresholdNs == Off ? Timeout.InfiniteTimeSpan : TimeSpan.FromMicroseconds(ThresholdNs / 1e3);
        set => Volatile.Write(ref _thresholdNs, value < TimeSpan.Zero ? Off : (long)value.TotalNanoseconds);
    }

    /// <summary>Gets the threshold in nanoseconds; <see cref="Off"/> for nothing. A stale value only adds or omits one request.</summary>
    public long ThresholdNs => Volatile.Read(ref _thresholdNs);

    /// <summary>Gets or sets the maximum number of entries. Default 128.</summary>
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

    /// <summary>Gets the present number of entries.</summary>
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

    /// <summary>Gets the approximate memory that the entries use.</summary>
    public int Bytes
    {
        get
        {
            lock (_lock)
            {
                return _bytes;
            }
        }
    }

    /// <summary>Gets the number of slow requests since the start.</summary>
    public long Total => Volatile.Read(ref _nextId);

    /// <summary>Adds a request and assigns its number.</summary>
    public void Add(SlowRequest request)
    {
        lock (_lock)
        {
            request = request with { Id = _nextId };
            Volatile.Write(ref _nextId, _nextId + 1);
            _entries.AddFirst(request);
            _bytes += request.Bytes;
            Trim();
        }

        Added?.Invoke(request);
    }

    /// <summary>Returns the latest requests, the latest first.</summary>
    public SlowRequest[] Latest(int count)
    {
        lock (_lock)
        {
            return [.. _entries.Take(count)];
        }
    }

    /// <summary>Removes all entries.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            _entries.Clear();
            _bytes = 0;
        }
    }

    private void Trim()
    {
        while (_entries.Count > _capacity || _bytes > MaxBytes)
        {
            _bytes -= _entries.Last!.Value.Bytes;
            _entries.RemoveLast();
        }
    }
}
