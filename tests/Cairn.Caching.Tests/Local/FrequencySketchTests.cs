using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

public class FrequencySketchTests
{
    [Fact]
    public void An_estimate_is_never_too_low_before_counts_are_halved()
    {
        var random = new Random(3);
        var sketch = new FrequencySketch(1000);
        var counts = new Dictionary<ulong, int>();

        for (int i = 0; i < 5000; i++)
        {
            ulong key = (ulong)random.Next(500);
            sketch.Add(key, 1);
            counts[key] = counts.GetValueOrDefault(key) + 1;
        }

        Assert.All(counts, pair => Assert.InRange(sketch.Estimate(pair.Key), Math.Min(15, pair.Value), 15));
    }

    [Fact]
    public void Most_estimates_are_exact_with_as_many_keys_as_entries()
    {
        var sketch = new FrequencySketch(1000);
        for (ulong key = 0; key < 1000; key++)
        {
            sketch.Add(key, 1 + (int)(key % 5));
        }

        int exact = Enumerable.Range(0, 1000).Count(key => sketch.Estimate((ulong)key) == 1 + (key % 5));

        Assert.InRange(exact, 800, 1000);
    }

    // With four counters for each entry, a quarter of these estimates was exact, and the level kept keys that were used once.
    [Fact]
    public void Most_estimates_of_a_small_cache_are_exact_with_five_times_as_many_keys_as_entries()
    {
        const int Keys = 5000;
        var sketch = new FrequencySketch(Keys / 5);
        for (ulong key = 0; key < Keys; key++)
        {
            sketch.Add(key, 1);
        }

        int exact = Enumerable.Range(0, Keys).Count(key => sketch.Estimate((ulong)key) == 1);

        Assert.InRange(exact, Keys * 3 / 4, Keys);
    }

    [Fact]
    public void Counts_are_halved_after_ten_uses_an_entry()
    {
        var sketch = new FrequencySketch(100);
        sketch.Add(1, 12);

        for (ulong key = 2; key < 2 + 988; key++)
        {
            sketch.Add(key << 32 | key, 1);
        }

        Assert.Equal(6, sketch.Estimate(1));
    }
}
