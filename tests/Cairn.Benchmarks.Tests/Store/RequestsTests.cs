using System.Text;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Tests.Store;

public class RequestsTests
{
    [Fact]
    public void A_request_is_the_same_key_as_bytes_as_text_and_as_memory()
    {
        var requests = new Requests(order: [7, 123_456, 7]);
        var texts = requests.AsTexts();

        Assert.Equal(3, requests.Count);
        for (var i = 0; i < requests.Count; i++)
        {
            var key = Encoding.ASCII.GetString(requests.Key(i));
            Assert.Equal(Requests.KeyBytes, key.Length);
            Assert.Equal(key, texts.Key(i));
            Assert.Equal(key, Encoding.ASCII.GetString(requests.Memories[i].Span));
        }

        Assert.Equal("book:000000000123456", texts.Key(1));
    }

    [Theory]
    [InlineData(nameof(Distribution.Uniform))]
    [InlineData(nameof(Distribution.Zipf))]
    public void Same_seed_draws_the_same_keys_and_another_seed_others(string distribution)
    {
        var drawn = KeyNumbers.Draw(Enum.Parse<Distribution>(distribution), keys: 1000, count: 500, seed: 1);

        Assert.All(drawn, number => Assert.InRange(number, 0, 999));
        Assert.Equal(drawn, KeyNumbers.Draw(Enum.Parse<Distribution>(distribution), keys: 1000, count: 500, seed: 1));
        Assert.NotEqual(drawn, KeyNumbers.Draw(Enum.Parse<Distribution>(distribution), keys: 1000, count: 500, seed: 2));
    }

    [Fact]
    public void Zipf_asks_for_the_two_most_popular_keys_as_often_as_its_law_says()
    {
        const int Keys = 1000;
        const int Count = 200_000;
        var harmonic = Enumerable.Range(1, Keys).Sum(rank => Math.Pow(rank, -0.99));

        var counts = KeyNumbers.Draw(Distribution.Zipf, Keys, Count, seed: 1)
            .CountBy(number => number).Select(pair => pair.Value).OrderDescending().ToList();

        Assert.Equal(Count / harmonic, counts[0], tolerance: Count * 0.005);
        Assert.Equal(Count * Math.Pow(2, -0.99) / harmonic, counts[1], tolerance: Count * 0.005);
    }
}
