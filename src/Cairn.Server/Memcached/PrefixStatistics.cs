namespace Cairn.Server.Memcached;

/// <summary>The counts of <c>stats detail</c> while it is on: operations by the part of the key before the first delimiter.</summary>
internal sealed class PrefixStatistics(char? delimiter)
{
    // A limit, because clients may invent any number of prefixes.
    private const int MaxPrefixes = 10_000;

    // A line without its prefix and with numbers of usual length.
    private const int LineBytes = 48;

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Counts> _counts = new(StringComparer.Ordinal);
    private volatile bool _isOn = delimiter is not null;
    private long _prefixBytes;

    /// <summary>Gets the character that ends a prefix.</summary>
    public char Delimiter { get; } = delimiter ?? ':';

    public bool IsOn
    {
        get => _isOn;
        set => _isOn = value;
    }

    public void CountGet(ReadOnlySpan<byte> key, bool isHit)
    {
        lock (_lock)
        {
            if (TryFind(key) is { } counts)
            {
                counts.Gets++;
                counts.Hits += isHit ? 1 : 0;
            }
        }
    }

    public void CountSet(ReadOnlySpan<byte> key)
    {
        lock (_lock)
        {
            if (TryFind(key) is { } counts)
            {
                counts.Sets++;
            }
        }
    }

    public void CountDelete(ReadOnlySpan<byte> key)
    {
        lock (_lock)
        {
            if (TryFind(key) is { } counts)
            {
                counts.Deletes++;
            }
        }
    }

    public void Clear()
    {
        lock (_lock)
        {
            _counts.Clear();
            _prefixBytes = 0;
        }
    }

    /// <summary>Gets the approximate length in bytes of <see cref="Dump"/>.</summary>
    public long Length
    {
        get
        {
            lock (_lock)
            {
                return _prefixBytes + (LineBytes * (long)_counts.Count);
            }
        }
    }

    /// <summary>Returns one line for each prefix.</summary>
    public byte[] Dump()
    {
        var text = new StringBuilder();
        lock (_lock)
        {
            foreach ((string prefix, Counts counts) in _counts)
            {
                text.Append(
                    System.Globalization.CultureInfo.InvariantCulture,
                    $"PREFIX {prefix} get {counts.Gets} hit {counts.Hits} set {counts.Sets} del {counts.Deletes}\r\n");
            }
        }

        return Encoding.Latin1.GetBytes(text.ToString());
    }

    private Counts? TryFind(ReadOnlySpan<byte> key)
    {
        int end = key.IndexOf((byte)Delimiter);
        if (end < 0)
        {
            return null;
        }

        string prefix = Encoding.Latin1.GetString(key[..end]);
        if (!_counts.TryGetValue(prefix, out Counts? counts) && _counts.Count < MaxPrefixes)
        {
            counts = _counts[prefix] = new Counts();
            _prefixBytes += prefix.Length;
        }

        return counts;
    }

    private sealed class Counts
    {
        public long Gets { get; set; }

        public long Hits { get; set; }

        public long Sets { get; set; }

        public long Deletes { get; set; }
    }
}
