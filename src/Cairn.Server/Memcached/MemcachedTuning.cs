namespace Cairn.Server.Memcached;

// memcached's commands that tune its slabs, its LRU and its crawler. They are checked and answered as there, and stats settings shows
// them. They have no effect: the store has no slabs, and removes expired entries without a crawler.
/// <summary>The settings of memcached that clients can change and that have no effect.</summary>
internal sealed class MemcachedTuning
{
    private const int LargestSlabClass = 39; // memcached's, with its default sizes.
    private const uint LongestSleepUs = 1_000_000;
    private const int MaxClass = 63;

    private uint _automove = 1;
    private double _automoveRatio = 0.8;
    private bool _isCrawlerOn = true;
    private uint _crawlerSleep = 100;
    private uint _crawlerItems;
    private bool _isSegmented = true;
    private (uint Hot, uint Warm) _percent = (20, 40);
    private (double Hot, double Warm) _maxFactor = (0.2, 2.0);
    private int? _temporarySeconds;

    private static ReadOnlySpan<byte> Done => "OK\r\n"u8;

    private static ReadOnlySpan<byte> Unknown => "ERROR\r\n"u8;

    private static ReadOnlySpan<byte> BadFormat => "CLIENT_ERROR bad command line format\r\n"u8;

    /// <summary>Gets whether the crawler is on, which listings of keys need.</summary>
    public bool IsCrawlerOn => _isCrawlerOn;

    /// <summary>Returns the reply to <c>slabs</c>.</summary>
    public ReadOnlySpan<byte> Slabs(IReadOnlyList<string> words)
    {
        switch (words)
        {
            case ["reassign", var source, var target]:
                if (!TryParse(source, out int from) || !TryParse(target, out int to))
                {
                    return BadFormat;
                }

                return from == to ? "SAME src and dst class are identical\r\n"u8
                    : from is < -1 or > LargestSlabClass || to is < 0 or > LargestSlabClass ? "BADCLASS invalid src or dst class id\r\n"u8
                    : "NOSPARE source class has no spare pages\r\n"u8;

            case ["automove", "ratio", ..]:
                return words.Count >= 3 && TryParse(words[2], out _automoveRatio) ? Done : Unknown;

            case ["automove", var level, ..]:
                if (!TryParse(level, out uint number))
                {
                    return BadFormat;
                }

                _automove = number <= 2 ? number : _automove;
                return number <= 2 ? Done : Unknown;

            default:
                return Unknown;
        }
    }

    /// <summary>Returns the reply to <c>lru</c>.</summary>
    public ReadOnlySpan<byte> Lru(IReadOnlyList<string> words)
    {
        switch (words)
        {
            case ["tune", var hot, var warm, var hotFactor, var warmFactor, ..]:
                if (!TryParse(hot, out uint hotPercent) || !TryParse(warm, out uint warmPercent)
                    || !TryParse(hotFactor, out double hotMost) || !TryParse(warmFactor, out double warmMost))
                {
                    return Unknown;
                }

                if (hotPercent + (ulong)warmPercent > 80)
                {
                    return "ERROR hot and warm pcts must not exceed 80\r\n"u8;
                }

                if (hotMost <= 0 || warmMost <= 0)
                {
                    return "ERROR hot/warm age factors must be greater than 0\r\n"u8;
                }

                _percent = (hotPercent, warmPercent);
                _maxFactor = (hotMost, warmMost);
                return Done;

            case ["mode", "flat" or "segmented", ..]:
                _isSegmented = words[1] == "segmented";
                return Done;

            case ["temp_ttl", var time, ..] when TryParse(time, out int seconds):
                _temporarySeconds = seconds < 0 ? null : seconds;
                return Done;

            default:
                return Unknown;
        }
    }

    /// <summary>Returns the reply to <c>lru_crawler</c>, except to its listings of keys.</summary>
    public ReadOnlySpan<byte> Crawler(IReadOnlyList<string> words)
    {
        switch (words)
        {
            case ["enable"] or ["disable"]:
                _isCrawlerOn = words[0] == "enable";
                return Done;

            case ["crawl", var classes]:
                return !_isCrawlerOn ? "CLIENT_ERROR lru crawler disabled\r\n"u8
                    : ClassesOf(Encoding.Latin1.GetBytes(classes)) < 0 ? "BADCLASS invalid class id\r\n"u8 : Done;

            case ["tocrawl", var items]:
                return TryParse(items, out _crawlerItems) ? Done : BadFormat;

            case ["sleep", var time]:
                if (!TryParse(time, out uint microseconds))
                {
                    return BadFormat;
                }

                _crawlerSleep = microseconds <= LongestSleepUs ? microseconds : _crawlerSleep;
                return microseconds <= LongestSleepUs ? Done : "CLIENT_ERROR sleep must be one second or less\r\n"u8;

            default:
                return Unknown;
        }
    }

    /// <summary>Reads a list of classes. Returns -1 for an unknown class, 0 for classes without entries, 1 for all entries.</summary>
    public static int ClassesOf(ReadOnlySpan<byte> text)
    {
        if (text.SequenceEqual("all"u8) || text.SequenceEqual("hash"u8))
        {
            return 1;
        }

        int result = 0;
        foreach (Range range in text.Split((byte)','))
        {
            if (!int.TryParse(text[range], NumberStyles.None, CultureInfo.InvariantCulture, out int number) || number is < 1 or > MaxClass)
            {
                return -1;
            }

            result |= number == 1 ? 1 : 0; // All entries of the store are in the first class.
        }

        return result;
    }

    /// <summary>Returns the arguments of a request as text.</summary>
    public static IReadOnlyList<string> WordsOf(ReadOnlySpan<byte> input, in MemcachedRequest request)
    {
        var words = new List<string>();
        foreach (ReadOnlySpan<byte> word in request.EnumerateArguments(input))
        {
            words.Add(Encoding.Latin1.GetString(word));
        }

        return words;
    }

    /// <summary>Returns the settings for <c>stats settings</c>.</summary>
    public IEnumerable<(string Name, string Value)> Settings() =>
    [
        ("slab_reassign", "yes"),
        ("slab_automove", Text(_automove)),
        ("slab_automove_ratio", Text(_automoveRatio)),
        ("slab_automove_window", "30"),
        ("slab_automove_freeratio", "0.010"),
        ("slab_chunk_max", "524288"),
        ("lru_crawler", _isCrawlerOn ? "yes" : "no"),
        ("lru_crawler_sleep", Text(_crawlerSleep)),
        ("lru_crawler_tocrawl", Text(_crawlerItems)),
        ("tail_repair_time", "0"),
    ];

    /// <summary>Returns the settings of the LRU for <c>stats settings</c>.</summary>
    public IEnumerable<(string Name, string Value)> LruSettings() =>
    [
        ("lru_maintainer_thread", "yes"),
        ("lru_segmented", _isSegmented ? "yes" : "no"),
        ("hot_lru_pct", Text(_percent.Hot)),
        ("warm_lru_pct", Text(_percent.Warm)),
        ("hot_max_factor", Text(_maxFactor.Hot)),
        ("warm_max_factor", Text(_maxFactor.Warm)),
        ("temp_lru", _temporarySeconds is null ? "no" : "yes"),
        ("temporary_ttl", Text((uint)(_temporarySeconds ?? 61))),
    ];

    private static string Text(uint number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Text(double number) => number.ToString("F2", CultureInfo.InvariantCulture);

    private static bool TryParse(string text, out uint number) => uint.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);

    private static bool TryParse(string text, out int number) =>
        int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number);

    private static bool TryParse(string text, out double number) => double.TryParse(text, CultureInfo.InvariantCulture, out number);
}
