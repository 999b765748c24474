using Cairn.Server.Timing;

namespace Cairn.Server.Tests.Timing;

/// <summary>Compares the wheel with a dictionary: due entries are returned in time, and the others stay.</summary>
public class DeadlineWheelTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Entry_comes_out_within_a_step_of_its_time_and_never_twice(int seed)
    {
        var random = new Random(seed);
        long now = 123_456;
        var wheel = new DeadlineWheel<object>(now);
        DeadlineEntry<object>[] entries = [.. Enumerable.Range(0, 100).Select(_ => new DeadlineEntry<object>(null!))];
        var due = new Dictionary<DeadlineEntry<object>, long>();

        for (int step = 0; step < 20_000; step++)
        {
            DeadlineEntry<object> entry = entries[random.Next(entries.Length)];
            switch (random.Next(4))
            {
                case 0:
                    wheel.Remove(entry);
                    due.Remove(entry);
                    break;
                case 1:
                    now += random.Next(20) == 0 ? random.Next(200_000) : random.Next(300);
                    Take(wheel, due, now);
                    break;
                default:
                    long time = now + 1 + random.Next(random.Next(10) == 0 ? 300_000 : 5_000);
                    wheel.Schedule(entry, time, now);
                    due[entry] = Math.Min(time, due.GetValueOrDefault(entry, long.MaxValue));
                    break;
            }

            Assert.Equal(due.Count == 0, wheel.MillisecondsToNext(now) < 0);
        }
    }

    // Entries beyond the wheel's horizon may be returned early. The worker puts them back, and so does this method.
    private static void Take(DeadlineWheel<object> wheel, Dictionary<DeadlineEntry<object>, long> due, long now)
    {
        while (wheel.TakeDue(now) is { } entry)
        {
            Assert.True(due.Remove(entry, out long time));
            if (time > now)
            {
                wheel.Schedule(entry, time, now);
                due[entry] = time;
            }
        }

        Assert.DoesNotContain(due.Values, time => time <= now - (2 * DeadlineWheel<object>.GranularityMs));
    }
}
