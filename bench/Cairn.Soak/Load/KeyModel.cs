using System.Globalization;

namespace Cairn.Soak.Load;

/// <summary>
/// The keys of one client and what each of them may hold. A cache may lose an entry at any time. It may never answer with a value older than the
/// last one that it acknowledged, with a removed value, with an expired one, or with one that no client sent.
/// </summary>
internal sealed class KeyModel(string prefix, int keys, int longestValue)
{
    // Times to live are whole seconds, the store's clock may be a moment behind, and a reply may be on its way for long on a busy machine: a value is
    // wrong only if it was expired for this long when it was asked for.
    private static readonly TimeSpan Slack = TimeSpan.FromSeconds(3);

    private readonly List<Version>[] _states = [.. Enumerable.Range(0, keys).Select(_ => new List<Version>())];
    private int _last;

    public int Count => keys;

    public string KeyOf(int key) => string.Create(CultureInfo.InvariantCulture, $"{prefix}:{key}");

    /// <summary>A value that was never sent before. The key may hold it from now on.</summary>
    public string Begin(int key, Random random, int seconds)
    {
        // Most values are short.
        int length = random.Next(8) == 0 ? random.Next(longestValue) : random.Next(Math.Min(longestValue, 400));
        var version = new Version(++_last, length, seconds, DateTimeOffset.MaxValue);
        _states[key].Add(version);
        return TextOf(key, version);
    }

    /// <summary>The server acknowledged the value that was begun last: no older one can be there.</summary>
    public void Acknowledge(int key, DateTimeOffset now)
    {
        Version version = _states[key][^1];
        _states[key].Clear();
        _states[key].Add(version.CountedFrom(now));
    }

    /// <summary>The connection broke before an answer: the value that was begun last may be there or not.</summary>
    public void Abandon(int key, DateTimeOffset now) => _states[key][^1] = _states[key][^1].CountedFrom(now);

    /// <summary>The removal was acknowledged: no value can be there.</summary>
    public void Remove(int key) => _states[key].Clear();

    /// <summary>What is wrong with this answer; null if nothing is.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The answer.</param>
    /// <param name="asked">When it was asked for.</param>
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
        // The server counts from when it executed the request, which is before the client received the reply.
        public Version CountedFrom(DateTimeOffset now) => this with { Deadline = Seconds == 0 ? DateTimeOffset.MaxValue : now.AddSeconds(Seconds) };
    }
}
