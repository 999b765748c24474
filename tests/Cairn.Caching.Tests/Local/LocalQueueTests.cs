using Cairn.Caching.Local;

namespace Cairn.Caching.Tests.Local;

public class LocalQueueTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Queue_does_what_a_list_does_however_it_grows_and_whatever_leaves_it(int seed)
    {
        var random = new Random(seed);
        var queue = new LocalQueue(LocalPlace.Small);
        var model = new List<LocalEntry>();
        for (int step = 0; step < 20_000; step++)
        {
            // Alternates between periods in which the queue grows and periods in which it shrinks.
            bool grows = (step / 2_000) % 2 == 0;
            switch (random.Next(8))
            {
                case <= 3:
                    LocalEntry added = LocalEntries.Of($"{step}", bytes: random.Next(10));
                    queue.Add(added);
                    model.Add(added);
                    break;
                case 4 when model.Count > 0:
                    queue.Rotate();
                    model.Add(model[0]);
                    model.RemoveAt(0);
                    break;
                case 5 when model.Count > 0:
                    int at = random.Next(model.Count);
                    LocalEntry other = LocalEntries.Of($"{step}", bytes: random.Next(10));
                    queue.Replace(model[at], other);
                    model[at] = other;
                    break;
                default:
                    for (int i = grows ? 1 : 4; i > 0 && model.Count > 0; i--)
                    {
                        int gone = random.Next(3) == 0 ? 0 : random.Next(model.Count);
                        queue.Remove(model[gone]);
                        model.RemoveAt(gone);
                    }

                    break;
            }

            Assert.Equal(model.Count, queue.Count);
            Assert.Same(model.FirstOrDefault(), queue.Oldest);
            Assert.Equal(model.Sum(entry => entry.Bytes), queue.Bytes);
        }

        foreach (LocalEntry expected in model)
        {
            Assert.Same(expected, queue.Oldest);
            queue.Remove(expected);
        }

        Assert.Null(queue.Oldest);
    }

    [Fact]
    public void Entry_that_stays_while_many_come_and_go_behind_it_is_still_the_oldest()
    {
        var queue = new LocalQueue(LocalPlace.Main);
        LocalEntry first = LocalEntries.Of("first");
        queue.Add(first);

        for (int i = 0; i < 10_000; i++)
        {
            LocalEntry other = LocalEntries.Of($"{i}");
            queue.Add(other);
            queue.Remove(other);
        }

        Assert.Same(first, queue.Oldest);
        Assert.Equal(1, queue.Count);
    }
}
