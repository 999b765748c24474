namespace Cairn.HitRate.Traces;

/// <summary>
/// Traces of different kinds from a seed, which also varies their sizes and skews. Parameters of a policy are chosen on even seeds and reported on odd
/// ones.
/// </summary>
internal static class GeneratedTraces
{
    private const int Requests = 240_000;

    private static readonly double[] _percents = [0.5, 2, 10, 30];

    private static readonly (string Name, Func<Random, IEnumerable<int>> Keys)[] _kinds =
    [
        ("zipf-0.6", random => Zipf(random, 30_000, 0.6)),
        ("zipf-0.8", random => Zipf(random, 40_000, 0.8)),
        ("zipf-1.0", random => Zipf(random, 60_000, 1.0)),
        ("zipf-1.2", random => Zipf(random, 90_000, 1.2)),
        ("uniform", random => Forever(() => random.Next(25_000))),
        ("drift", random => Drift(random, random.Next(8_000, 16_000), 0.9, requestsPerStep: random.Next(8, 25))),
        ("hot-sets", random => HotSets(random, hotKeys: random.Next(300, 1_500), requestsPerSet: random.Next(10_000, 30_000))),
        ("classes", random => Forever(() => random.Next(100) < 70 ? random.Next(2_500) : 2_500 + random.Next(20_000))),
        ("scans-once", random => Scans(random, isRepeated: false)),
        ("scans-again", random => Scans(random, isRepeated: true)),
        ("loop", random => Loops(random, loops: 1, length: random.Next(6_000, 12_000))),
        ("loops", random => Loops(random, loops: 4, length: random.Next(3_000, 6_000))),
        ("loop-and-zipf", LoopAndZipf),
        ("zigzag", random => Zigzag(random.Next(6_000, 12_000))),
        ("stack", random => StackDistances(random, newPercent: random.Next(4, 12), skew: 1.3 + (random.NextDouble() * 0.4))),
        ("newest", random => Newest(random, requestsPerKey: random.Next(5, 15))),
        ("bursts", random => Bursts(random, keys: random.Next(20_000, 40_000))),
        ("once-20", random => Once(random, 20)),
        ("once-40", random => Once(random, 40)),
        ("once-60", random => Once(random, 60)),
        ("once-80", random => Once(random, 80)),
        ("written-then-read", random => WrittenThenRead(random, longestLag: random.Next(500, 8_000))),
        ("jobs", Jobs),
        ("sessions", Sessions),
        ("tree", Tree),
        ("day-and-night", DayAndNight),
        ("phases", Phases),
    ];

    /// <summary>Returns one trace of each kind.</summary>
    public static IEnumerable<Trace> Of(int seed)
    {
        for (var kind = 0; kind < _kinds.Length; kind++)
        {
            var random = new Random((seed * 1_000) + kind);
            yield return ToTrace(_kinds[kind].Name, _kinds[kind].Keys(random).Take(Requests), _percents);
        }

        // Sizes that have nothing to do with popularity, from tens of bytes to hundreds of kilobytes.
        var sized = new Random((seed * 1_000) + 999);
        var zipf = ToTrace("sizes", Zipf(sized, 30_000, 0.9).Take(Requests), _percents);
        yield return zipf with { Sizes = [.. Enumerable.Range(0, zipf.DistinctKeys).Select(_ => (int)(50 * Math.Exp(sized.NextDouble() * 8)))] };
    }

    // Renumbers the keys in the order of their first request.
    internal static Trace ToTrace(string name, IEnumerable<int> keys, IEnumerable<double> percents)
    {
        var numbers = new Dictionary<int, int>();
        var requests = new List<int>();
        foreach (var key in keys)
        {
            if (!numbers.TryGetValue(key, out var number))
            {
                number = numbers.Count;
                numbers.Add(key, number);
            }

            requests.Add(number);
        }

        var trace = new Trace(name, [.. requests], numbers.Count);
        return trace with { Capacities = [.. percents.Select(percent => trace.CapacityAt(percent))] };
    }

    private static IEnumerable<int> Forever(Func<int> next)
    {
        while (true)
        {
            yield return next();
        }
    }

    private static IEnumerable<int> Zipf(Random random, int keys, double skew)
    {
        var rank = Ranks(random, keys * (80 + random.Next(41)) / 100, skew + (0.1 * (random.NextDouble() - 0.5)));
        return Forever(rank);
    }

    /// <summary>Returns a function that returns a rank from 0; rank r has a probability proportional to (r + 1) to the power of -skew.</summary>
    internal static Func<int> Ranks(Random random, int keys, double skew)
    {
        var sums = new double[keys];
        var sum = 0.0;
        for (var rank = 0; rank < keys; rank++)
        {
            sum += Math.Pow(rank + 1, -skew);
            sums[rank] = sum;
        }

        return () =>
        {
            var index = Array.BinarySearch(sums, random.NextDouble() * sum);
            return Math.Min(index < 0 ? ~index : index, keys - 1);
        };
    }

    // The most popular key changes all the time: ranks move along the keys.
    private static IEnumerable<int> Drift(Random random, int keys, double skew, int requestsPerStep)
    {
        var rank = Ranks(random, keys, skew);
        for (var request = 0; ; request++)
        {
            yield return (request / requestsPerStep) + rank();
        }
    }

    private static IEnumerable<int> HotSets(Random random, int hotKeys, int requestsPerSet)
    {
        const int Keys = 30_000;
        var first = 0;
        for (var request = 0; ; request++)
        {
            first = request % requestsPerSet == 0 ? random.Next(Keys - hotKeys) : first;
            yield return random.Next(10) < 8 ? first + random.Next(hotKeys) : random.Next(Keys);
        }
    }

    private static IEnumerable<int> Scans(Random random, bool isRepeated)
    {
        const int Keys = 15_000;
        var rank = Ranks(random, Keys, 0.9);
        var between = random.Next(8_000, 16_000);
        var length = random.Next(1_000, 4_000);
        for (var scan = 0; ; scan++)
        {
            for (var request = 0; request < between; request++)
            {
                yield return rank();
            }

            var first = Keys + (isRepeated ? 0 : scan * length);
            for (var key = first; key < first + length; key++)
            {
                yield return key;
            }
        }
    }

    private static IEnumerable<int> Loops(Random random, int loops, int length)
    {
        const int Rounds = 8;
        for (var loop = 0; ; loop = (loop + 1) % loops)
        {
            var rounds = Rounds + random.Next(Rounds);
            for (var request = 0; request < rounds * length; request++)
            {
                yield return (loop * length) + (request % length);
            }
        }
    }

    private static IEnumerable<int> LoopAndZipf(Random random)
    {
        const int Keys = 12_000;
        var rank = Ranks(random, Keys, 0.8);
        var length = random.Next(1_500, 6_000);
        var share = random.Next(30, 70);
        var position = 0;
        return Forever(() => random.Next(100) < share ? Keys + (position++ % length) : rank());
    }

    private static IEnumerable<int> Zigzag(int length)
    {
        while (true)
        {
            for (var key = 0; key < length; key++)
            {
                yield return key;
            }

            for (var key = length - 1; key >= 0; key--)
            {
                yield return key;
            }
        }
    }

    // Each request is for the key that was used as many different keys ago as a number from a distribution with a long tail says.
    internal static IEnumerable<int> StackDistances(Random random, int newPercent, double skew)
    {
        const int Longest = 6_000;
        var depth = Ranks(random, Longest, skew - 0.5);
        var stack = new List<int>();
        var keys = 0;
        while (true)
        {
            var index = stack.Count - 1 - depth();
            if (index < 0 || random.Next(100) < newPercent)
            {
                stack.Add(keys++);
                if (stack.Count > Longest * 2)
                {
                    stack.RemoveRange(0, Longest);
                }
            }
            else
            {
                var key = stack[index];
                stack.RemoveAt(index);
                stack.Add(key);
            }

            yield return stack[^1];
        }
    }

    // News: the newer, the more popular.
    private static IEnumerable<int> Newest(Random random, int requestsPerKey)
    {
        var age = Ranks(random, 20_000, 1.0);
        for (var request = 0; ; request++)
        {
            yield return 20_000 + (request / requestsPerKey) - age();
        }
    }

    // A key that is requested is requested some more times soon.
    private static IEnumerable<int> Bursts(Random random, int keys)
    {
        var rank = Ranks(random, keys, 0.6);
        var due = new PriorityQueue<int, int>();
        for (var request = 0; ; request++)
        {
            if (due.TryPeek(out _, out var time) && time <= request)
            {
                yield return due.Dequeue();
                continue;
            }

            var key = rank();
            for (var repeat = random.Next(5); repeat > 0; repeat--)
            {
                due.Enqueue(key, request + 1 + random.Next(400));
            }

            yield return key;
        }
    }

    private static IEnumerable<int> Once(Random random, int percent)
    {
        const int Keys = 20_000;
        var rank = Ranks(random, Keys, 0.9);
        var once = Keys;
        return Forever(() => random.Next(100) < percent ? once++ : rank());
    }

    private static IEnumerable<int> WrittenThenRead(Random random, int longestLag)
    {
        var due = new PriorityQueue<int, int>();
        var keys = 0;
        for (var request = 0; ; request++)
        {
            if (due.TryPeek(out _, out var time) && time <= request)
            {
                yield return due.Dequeue();
            }
            else
            {
                due.Enqueue(keys, request + 1 + random.Next(longestLag));
                yield return keys++;
            }
        }
    }

    // Some jobs read the same keys in the same order at every run, beside popular keys.
    private static IEnumerable<int> Jobs(Random random)
    {
        const int Keys = 10_000;
        var rank = Ranks(random, Keys, 0.9);
        var periods = Enumerable.Range(0, 8).Select(_ => random.Next(5_000, 40_000)).ToArray();
        var lengths = periods.Select(period => random.Next(200, period / 6)).ToArray();
        for (var request = 0; ; request++)
        {
            yield return rank();
            for (var job = 0; job < periods.Length; job++)
            {
                var position = request % periods[job];
                if (position < lengths[job])
                {
                    yield return Keys + (job * 10_000) + position;
                }
            }
        }
    }

    // Users request keys of their own for a while, and keys of a common catalogue.
    private static IEnumerable<int> Sessions(Random random)
    {
        const int Keys = 8_000;
        const int KeysOfUser = 6;
        var rank = Ranks(random, Keys, 1.0);
        var active = Enumerable.Range(0, random.Next(100, 400)).ToArray();
        var users = active.Length;
        while (true)
        {
            var place = random.Next(active.Length);
            active[place] = random.Next(30) == 0 ? users++ : active[place];
            yield return random.Next(10) < 5 ? rank() : Keys + (active[place] * KeysOfUser) + random.Next(KeysOfUser);
        }
    }

    // Look-ups in a tree of pages with a fan-out of 50, and scans of some neighbouring leaves.
    private static IEnumerable<int> Tree(Random random)
    {
        const int FanOut = 50;
        const int Leaves = FanOut * FanOut * 12;
        var rank = Ranks(random, Leaves, 0.7);
        var scans = random.Next(1, 6);
        while (true)
        {
            var leaf = (int)(rank() * 7_919L % Leaves);
            yield return leaf / (FanOut * FanOut);
            yield return 100 + (leaf / FanOut);
            for (var last = leaf + (random.Next(100) < scans ? 200 : 1); leaf < last; leaf++)
            {
                yield return 1_000 + leaf;
            }
        }
    }

    // Two populations of which now the one and now the other has most requests.
    private static IEnumerable<int> DayAndNight(Random random)
    {
        const int Keys = 12_000;
        var day = Ranks(random, Keys, 1.0);
        var night = Ranks(random, Keys, 0.7);
        var period = random.Next(40_000, 100_000);
        for (var request = 0; ; request++)
        {
            var light = 0.5 + (0.45 * Math.Sin(2 * Math.PI * request / period));
            yield return random.NextDouble() < light ? day() : Keys + night();
        }
    }

    private static IEnumerable<int> Phases(Random random)
    {
        IEnumerator<int>[] kinds =
        [
            Zipf(random, 12_000, 0.9).GetEnumerator(), Loops(random, 1, random.Next(2_000, 5_000)).GetEnumerator(),
            StackDistances(random, 10, 1.5).GetEnumerator(), Scans(random, isRepeated: false).GetEnumerator(),
        ];
        for (var phase = 0; ; phase++)
        {
            var kind = phase % kinds.Length;
            for (var request = random.Next(15_000, 35_000); request > 0; request--)
            {
                kinds[kind].MoveNext();
                yield return (kind * 1_000_000) + kinds[kind].Current;
            }
        }
    }
}
