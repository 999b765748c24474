using System.Globalization;
using System.Text;
using Cairn.Server.Metrics;

namespace Cairn.Server.Tests.Metrics;

/// <summary>The keys that are requested most often.</summary>
public sealed class KeySamplesTests
{
    private readonly ManualClock _clock = new(hasTimers: true);
    private readonly KeySamples _samples;

    public KeySamplesTests() => _samples = new KeySamples(_clock, new EveryEighth());

    [Fact]
    public void Nothing_is_counted_before_a_visitor_looks()
    {
        Add("a", 80);

        Assert.False(_samples.IsWatched);
        Assert.Equal(0, _samples.Watch(10).Samples);
        Assert.True(_samples.IsWatched);
    }

    [Fact]
    public void Keys_that_are_asked_for_once_each_are_not_reported_however_many_there_are()
    {
        var samples = new KeySamples(_clock, new Random(5));
        samples.Watch(0);
        for (int i = 1; i <= 1_000_000; i++)
        {
            samples.Add(BitConverter.GetBytes(i));
            if (i % 50_000 == 0)
            {
                Assert.Empty(samples.Watch(50).Keys);
            }
        }

        Assert.InRange(samples.Watch(50).Samples, 123_000, 127_000);
    }

    [Theory]
    [InlineData(300)]
    [InlineData(1_000)]
    [InlineData(100_000)]
    public void Keys_that_are_equally_frequent_are_not_reported_if_they_are_too_many_to_count(int keys)
    {
        var samples = new KeySamples(_clock, new Random(keys));
        var random = new Random(11);
        samples.Watch(0);
        for (int i = 1; i <= 100_000; i++)
        {
            samples.Add(BitConverter.GetBytes(random.Next(keys)));
            if (i % 1_000 == 0)
            {
                Assert.Empty(samples.Watch(50).Keys); // With 100 samples, each may be wrong by chance once in a thousand times.
            }
        }
    }

    [Fact]
    public void Share_of_each_reported_key_lies_between_its_bounds_and_no_frequent_key_is_missing()
    {
        const int Keys = 10_000;
        double[] sums = new double[Keys];
        for (int i = 0; i < Keys; i++)
        {
            sums[i] = (i == 0 ? 0 : sums[i - 1]) + (1.0 / (i + 1)); // Zipf's law.
        }

        var samples = new KeySamples(_clock, new Random(1));
        var random = new Random(2);
        samples.Watch(0);
        for (int i = 0; i < 1_000_000; i++)
        {
            samples.Add(BitConverter.GetBytes(Math.Abs(~Array.BinarySearch(sums, random.NextDouble() * sums[^1]))));
        }

        FrequentKeys report = samples.Watch(50);

        double ShareOf(int key) => 1.0 / (key + 1) / sums[^1];
        Assert.All(report.Keys, key => Assert.InRange(
            ShareOf(BitConverter.ToInt32(key.Key)),
            ShareEstimate.Lowest(key.Least, report.Samples), ShareEstimate.Highest(key.Most, report.Samples)));
        Assert.All(report.Keys, key => Assert.InRange(ShareOf(BitConverter.ToInt32(key.Key)), ShareEstimate.LeastShare, 1));
        Assert.Equal(Enumerable.Range(0, 20), report.Keys.Take(20).Select(key => BitConverter.ToInt32(key.Key)).Order());
    }

    [Fact]
    public void Clients_that_go_through_eight_keys_in_turn_have_each_of_them_sampled()
    {
        var samples = new KeySamples(_clock, new Random(4));
        samples.Watch(0);
        for (int i = 0; i < 80_000; i++)
        {
            samples.Add([(byte)(i % 8)]);
        }

        FrequentKeys report = samples.Watch(50);

        Assert.Equal(8, report.Keys.Count);
        Assert.All(report.Keys, key => Assert.InRange((double)key.Least / report.Samples, 0.11, 0.14));
    }

    [Fact]
    public void Shares_are_of_all_requests_those_with_keys_that_are_too_long_to_be_counted_included()
    {
        _samples.Watch(0);
        Add("a", 80);
        Add(new string('k', KeySamples.MaxKeyBytes + 1), 240);

        FrequentKeys report = _samples.Watch(10);

        Assert.Equal((10L, 40L), (Assert.Single(report.Keys).Least, report.Samples));
    }

    [Fact]
    public void Keys_come_in_the_order_of_their_requests()
    {
        _samples.Watch(0);
        Add("rare", 80);
        Add("most", 800);
        Add("often", 400);

        Assert.Equal([("most", 100L, 100L), ("often", 50, 50)], Told(2));
    }

    [Fact]
    public void Key_that_the_caller_writes_over_is_kept_as_it_was()
    {
        byte[] key = "a"u8.ToArray();
        _samples.Watch(0);
        for (int i = 0; i < 8 * KeySamples.OneIn; i++)
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
        Add(longest, 80);
        Add(longest + "k", 80);

        Assert.Equal(longest, Assert.Single(Told(10)).Key);
    }

    [Fact]
    public void Counts_are_kept_while_a_visitor_looks_and_forgotten_afterwards()
    {
        _samples.Watch(0);
        Add("a", 80);
        _clock.Advance(KeySamples.WatchTime);
        Assert.Equal(10, Assert.Single(Told(10)).Least);

        _clock.Advance(KeySamples.WatchTime);
        Add("a", 80);
        Assert.Equal(20, Assert.Single(Told(10)).Least);
        Assert.Equal(2 * KeySamples.WatchTime, _samples.Watch(10).Watched);

        _clock.Advance(KeySamples.WatchTime + TimeSpan.FromTicks(1));
        Add("b", 80);
        Assert.False(_samples.IsWatched);
        Assert.Equal(0, _samples.Watch(10).Samples);
    }

    [Fact]
    public void Counts_of_an_earlier_look_are_forgotten_also_when_nothing_was_asked_for_since()
    {
        _samples.Watch(0);
        Add("a", 80);

        _clock.Advance(KeySamples.WatchTime + TimeSpan.FromTicks(1));

        Assert.Equal(0, _samples.Watch(10).Samples);
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
            // Three popular keys in a stream of keys that occur once.
            string key = random.Next(16) switch { 0 => "first", 1 => "second", 2 => "third", _ => i.ToString(CultureInfo.InvariantCulture) };
            truth[key] = truth.GetValueOrDefault(key) + 1;
            Add(key, KeySamples.OneIn);
        }

        List<(string Key, long Least, long Most)> told = Told(int.MaxValue);

        Assert.Equal(["first", "second", "third"], told.Select(sample => sample.Key).Order(StringComparer.Ordinal));
        Assert.All(told, sample => Assert.InRange(truth[sample.Key], sample.Least, sample.Most));
    }

    private void Add(string key, int requests)
    {
        Assert.Equal(0, requests % KeySamples.OneIn);
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        for (int i = 0; i < requests; i++)
        {
            _samples.Add(bytes);
        }
    }

    private List<(string Key, long Least, long Most)> Told(int count) =>
        [.. _samples.Watch(count).Keys.Select(sample => (Encoding.UTF8.GetString(sample.Key), sample.Least, sample.Most))];

    // A deterministic source of randomness.
    private sealed class EveryEighth : Random
    {
        private int _asked;

        public override int Next(int maxValue) => ++_asked % maxValue;
    }
}
