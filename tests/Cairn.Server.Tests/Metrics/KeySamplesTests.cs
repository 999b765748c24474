using System.Globalization;
using System.Text;
using Cairn.Server.Metrics;

namespace Cairn.Server.Tests.Metrics;

/// <summary>The keys that are asked for most.</summary>
public sealed class KeySamplesTests
{
    private readonly ManualClock _clock = new(hasTimers: true);
    private readonly KeySamples _samples;

    public KeySamplesTests() => _samples = new KeySamples(_clock);

    [Fact]
    public void Nothing_is_counted_before_somebody_looks()
    {
        Add("a", 8);

        Assert.False(_samples.IsWatched);
        Assert.Empty(_samples.Watch(10));
        Assert.True(_samples.IsWatched);
    }

    [Fact]
    public void Keys_come_in_the_order_of_their_requests_with_about_as_many_as_there_were()
    {
        _samples.Watch(0);
        Add("rare", 8);
        Add("most", 80);
        Add("often", 40);

        Assert.Equal([("most", 80L, 0L), ("often", 40, 0)], Told(2));
    }

    [Fact]
    public void Key_that_the_caller_writes_over_is_kept_as_it_was()
    {
        byte[] key = "a"u8.ToArray();
        _samples.Watch(0);
        for (int i = 0; i < KeySamples.OneIn; i++)
        {
            _samples.Add(key);
        }

        key[0] = (byte)'b';

        Assert.Equal("a", Assert.Single(Told(10)).Key);
    }

    [Fact]
    public void Longest_key_is_counted_and_a_longer_one_is_not()
    {
        string longest = new('k', KeySamples.MaxKeyBytes);
        _samples.Watch(0);
        Add(longest, 8);
        Add(longest + "k", 8);

        Assert.Equal(longest, Assert.Single(Told(10)).Key);
    }

    [Fact]
    public void Counts_are_kept_as_long_as_somebody_looks_and_forgotten_after()
    {
        _samples.Watch(0);
        Add("a", 8);
        _clock.Advance(KeySamples.WatchTime);
        Assert.Equal(8, Assert.Single(Told(10)).Requests);

        _clock.Advance(KeySamples.WatchTime);
        Add("a", 8);
        Assert.Equal(16, Assert.Single(Told(10)).Requests);

        _clock.Advance(KeySamples.WatchTime + TimeSpan.FromTicks(1));
        Add("b", 8);
        Assert.False(_samples.IsWatched);
        Assert.Empty(Told(10));
    }

    [Fact]
    public void Counts_of_an_earlier_look_are_forgotten_also_when_nothing_was_asked_for_since()
    {
        _samples.Watch(0);
        Add("a", 8);

        _clock.Advance(KeySamples.WatchTime + TimeSpan.FromTicks(1));

        Assert.Empty(Told(10));
    }

    [Fact]
    public void Key_asked_for_more_than_once_in_as_many_as_are_counted_is_never_missing_and_its_count_is_bounded() // I1
    {
        const int Rounds = 40;
        var random = new Random(9);
        var truth = new Dictionary<string, long>(StringComparer.Ordinal);
        _samples.Watch(0);
        for (int i = 0; i < Rounds * KeySamples.MaxKeys; i++)
        {
            // Three popular keys in a stream of those that come once.
            string key = random.Next(16) switch { 0 => "first", 1 => "second", 2 => "third", _ => i.ToString(CultureInfo.InvariantCulture) };
            truth[key] = truth.GetValueOrDefault(key) + KeySamples.OneIn;
            Add(key, KeySamples.OneIn);
        }

        List<(string Key, long Requests, long Error)> told = Told(int.MaxValue);

        Assert.Equal(KeySamples.MaxKeys, told.Count);
        Assert.Equal(["first", "second", "third"], told.Take(3).Select(sample => sample.Key).Order(StringComparer.Ordinal));
        Assert.All(told, sample => Assert.InRange(truth[sample.Key], sample.Requests - sample.Error, sample.Requests));
    }

    // As many of a thread's requests as are always counted the same, wherever among its own the thread is.
    private void Add(string key, int requests)
    {
        Assert.Equal(0, requests % KeySamples.OneIn);
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        for (int i = 0; i < requests; i++)
        {
            _samples.Add(bytes);
        }
    }

    private List<(string Key, long Requests, long Error)> Told(int count) =>
        [.. _samples.Watch(count).Select(sample => (Encoding.UTF8.GetString(sample.Key), sample.Requests, sample.Error))];
}
