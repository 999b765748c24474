using System.Globalization;

namespace Cairn.Soak.Load;

/// <summary>
/// The keys of one client and the values that each of them can hold. A cache may lose an entry at any time. It must never answer with a value older
/// than the last one that it acknowledged. It must never answer with a removed value, an expired one, or one that no client sent.
/// </summary>
internal sealed class KeyModel(string prefix, int keys, int longestValue)
{
    // Times to live are whole seconds, and the store's clock can be a moment behind. On a busy machine a reply can take long. So a value is wrong only
    // if it had been expired for this long when the client requested it.
    private static readonly TimeSpan Slack = TimeSpan.FromSeconds(3);

    private readonly List<Version>[] _states = [.. Enumerable.Range(0, keys).Select(_ => new List<Version>())];
    private int _last;

    public int Count => keys;

    public string KeyOf(int key) => string.Create(CultureInfo.InvariantCulture, $"{prefix}:{key}");

    /// <summary>Returns a value that was never sent before. The key can hold it from now on.</summary>
    public string Begin(int key, Random random, int seconds)
    {
        // Most values are short.
        int length = random.Next(8) == 0 ? random.Next(longestValue) : random.Next(Math.Min(longestValue, 400));
        var version = new Version(++_last, length, seconds, DateTimeOffset.MaxValue);
        _states[key].Add(version);
        return TextOf(key, version);
    }

    /// <summary>Records that the server acknowledged the latest value. The key cannot hold an older one any more.</summary>
    public void Acknowledge(int key, DateTimeOffset now)
    {
        Version version = _states[key][^1];
        _states[key].Clear();
        _states[key].Add(version.CountedFrom(now));
    }

    /// <summary>Records that the connection broke before an answer. The key may hold the latest value or an earlier one.</summary>
    public void Abandon(int key, DateTimeOffset now) => _states[key][^1] = _states[key][^1].CountedFrom(now);

    /// <summary>Records that the server acknowledged the removal. The key cannot hold a value any more.</summary>
    public void Remove(int key) => _states[key].Clear();

    /// <summary>Returns a description of the fault in an answer, or null if the answer is allowed.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The answer. Null if the key had no value.</param>
    /// <param name="asked">The time of the request.</param>
    public string? FaultOf(int key, string? value, DateTimeOffset asked)
    {
        if (value is null)
        {
            return null;
        }

        foreach (Version version in _states[key])
        {
            if (value == TextOf(key, version))
            {
                return version.Deadline < asked - Slack
                    ? $"{KeyOf(key)} holds version {version.Number}, which expired at {version.Deadline:O}; asked at {asked:O}"
                    : null;
            }
        }

        string possible = string.Join(", ", _states[key].Select(version => LineText(version.Number)));
        return $"{KeyOf(key)} holds '{value[..Math.Min(value.Length, 40)]}' ({value.Length} characters); possible versions: {(possible.Length == 0 ? "none" : possible)}";
    }

    private string TextOf(int key, Version version) =>
        string.Create(CultureInfo.InvariantCulture, $"{KeyOf(key)}={version.Number}:") + new string((char)('a' + (version.Number % 26)), version.Length);

    private static string LineText(int number) => number.ToString(CultureInfo.InvariantCulture);

    private readonly record struct Version(int Number, int Length, int Seconds, DateTimeOffset Deadline)
    {
        // The server counts from the execution of the request, which is before the client received the reply.
        public Version CountedFrom(DateTimeOffset now) => this with { Deadline = Seconds == 0 ? DateTimeOffset.MaxValue : now.AddSeconds(Seconds) };
    }
}
