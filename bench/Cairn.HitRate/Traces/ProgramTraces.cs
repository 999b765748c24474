namespace Cairn.HitRate.Traces;

/// <summary>Short traces of eleven kinds of programs from a seed. Parameters of a policy are chosen on even seeds and reported on odd ones.</summary>
internal static class ProgramTraces
{
    private static readonly double[] _percents = [4, 12, 25, 45];
    private static readonly Func<Random, IEnumerable<int>>[] _programs = [Examine, Compile, Retrieve, Join, Files, Loops];

    private static readonly (string Name, Func<Random, IEnumerable<int>> Keys, int FewestRequests, int MostRequests)[] _kinds =
    [
        ("examine", Examine, 5_000, 15_000),
        ("compile", Compile, 8_000, 30_000),
        ("retrieve", Retrieve, 5_000, 20_000),
        ("join", Join, 8_000, 40_000),
        ("pages", Pages, 30_000, 100_000),
        ("files", Files, 8_000, 60_000),
        ("loops", Loops, 8_000, 40_000),
        ("recency", Recency, 30_000, 150_000),
        ("phases", Phases, 15_000, 60_000),
        ("two-programs", random => InTurn(random, 2), 12_000, 40_000),
        ("four-programs", random => InTurn(random, 4), 20_000, 60_000),
    ];

    /// <summary>Returns one trace of each kind, to be replayed at 4, 12, 25 and 45 % of its keys.</summary>
    public static IEnumerable<Trace> Of(int seed)
    {
        foreach (var (kind, (name, keys, fewest, most)) in _kinds.Index())
        {
            var random = new Random((seed * 7_919) + (31 * kind) + 5);
            var requests = (int)(fewest * Math.Pow((double)most / fewest, random.NextDouble()));
            yield return GeneratedTraces.ToTrace(name, keys(random).Take(requests), _percents);
        }
    }

    // A tool reads all sources in order at each query, or skips some of them. Some popular pages are between them.
    private static IEnumerable<int> Examine(Random random)
    {
        var keys = random.Next(500, 3_000);
        var popularKeys = random.Next(5, 80);
        var skipped = random.NextDouble() < 0.5 ? 0 : random.NextDouble() * 0.3;
        var popularPercent = random.Next(0, 15);
        while (true)
        {
            for (var key = 0; key < keys; key++)
            {
                if (random.NextDouble() < skipped)
                {
                    key += random.Next(30);
                    continue;
                }

                yield return 1_000 + key;
                if (random.Next(100) < popularPercent)
                {
                    yield return random.Next(popularKeys);
                }
            }
        }
    }

    // Each source is read once, with headers, some of which are in most sources. The output is read one to three times.
    private static IEnumerable<int> Compile(Random random)
    {
        var headers = random.Next(40, 300);
        var starts = Starts(headers, () => 1 + random.Next(8));
        var rank = GeneratedTraces.Ranks(random, headers, 0.5 + (random.NextDouble() * 0.7));
        var source = 1_000_000;
        var output = 2_000_000;
        var passes = 1 + random.Next(0, 3);
        while (true)
        {
            var length = random.Next(2, 20);
            foreach (var page in PagesOf(Some(random.Next(5, 25), rank), starts).Concat(Enumerable.Range(source, length)))
            {
                yield return page;
            }

            source += length;
            var written = random.Next(2, 12);
            for (var page = 0; page < passes * written; page++)
            {
                yield return output + (page % written);
            }

            output += written;
        }
    }

    // A query reads an index in order, then the files that match. In some traces, three queries in four match the same files.
    private static IEnumerable<int> Retrieve(Random random)
    {
        var indexPages = random.Next(100, 900);
        var files = random.Next(30, 200);
        var starts = Starts(files, () => random.Next(5, 60));
        var rank = GeneratedTraces.Ranks(random, files, random.NextDouble() * 0.9);
        var matches = random.Next(3, 30);
        var isRepeated = random.Next(2) == 0;
        var same = Some(matches, rank);
        while (true)
        {
            for (var page = 0; page < indexPages; page++)
            {
                yield return page;
            }

            foreach (var page in PagesOf(isRepeated && random.Next(4) != 0 ? same : Some(matches, rank), starts))
            {
                yield return 10_000 + page;
            }
        }
    }

    // The inner table is read for each block of the outer table. Every sixteenth page of it follows pages of an index.
    private static IEnumerable<int> Join(Random random)
    {
        var tables = random.Next(2, 6);
        int[] lengths = [.. Enumerable.Range(0, tables).Select(_ => random.Next(100, 1_500))];
        var indexPages = random.Next(1, 4);
        while (true)
        {
            var outer = random.Next(tables);
            var inner = random.Next(tables);
            var block = random.Next(5, 60);
            var blocks = random.Next(2, 12);
            int[] innerPages = [.. Enumerable.Range(0, lengths[inner]).SelectMany(page => Enumerable.Range(0, page % 16 == 0 ? indexPages : 0).Append(100 + page))];
            for (var start = 0; start < Math.Min(lengths[outer], block * blocks); start += block)
            {
                var outerPages = Enumerable.Range(start, Math.Min(block, lengths[outer] - start)).Select(page => (outer * 10_000) + 100 + page);
                foreach (var page in outerPages.Concat(innerPages.Select(page => (inner * 10_000) + page)))
                {
                    yield return page;
                }
            }
        }
    }

    // Pages of an index and pages of data in turn.
    private static IEnumerable<int> Pages(Random random)
    {
        var indexPages = random.Next(50, 400);
        var dataPages = random.Next(3_000, 12_000);
        while (true)
        {
            yield return random.Next(indexPages);
            yield return 1_000 + random.Next(dataPages);
        }
    }

    // Each file is read one to five times in order, some again later.
    private static IEnumerable<int> Files(Random random)
    {
        var longest = random.Next(50, 1_500);
        var next = 0;
        var read = new List<(int First, int Length)>();
        var againPercent = random.Next(0, 60);
        while (true)
        {
            var file = read.Count > 0 && random.Next(100) < againPercent ? read[random.Next(read.Count)] : (First: next, Length: random.Next(2, longest));
            if (file.First == next)
            {
                read.Add(file);
                next += file.Length;
            }

            var requests = (1 + random.Next(5)) * file.Length;
            for (var page = 0; page < requests; page++)
            {
                yield return file.First + (page % file.Length);
            }
        }
    }

    // Loops of different lengths and speeds. Some keys are requested again at once.
    private static IEnumerable<int> Loops(Random random)
    {
        const int Recent = 16;
        var loops = random.Next(2, 6);
        int[] lengths = [.. Enumerable.Range(0, loops).Select(_ => (int)(20 * Math.Pow(100, random.NextDouble())))];
        int[] weights = [.. Enumerable.Range(0, loops).Select(_ => random.Next(1, 10))];
        var positions = new int[loops];
        var recent = new int[Recent];
        var againPercent = random.Next(0, 40);
        var longestRun = random.Next(1, 50);
        var requests = 0;
        while (true)
        {
            var loop = 0;
            for (var weight = random.Next(weights.Sum()); weight >= weights[loop]; loop++)
            {
                weight -= weights[loop];
            }

            for (var run = random.Next(longestRun); run >= 0; run--)
            {
                var key = (loop * 10_000) + (positions[loop]++ % lengths[loop]);
                recent[requests++ % Recent] = key;
                yield return key;
                if (random.Next(100) < againPercent)
                {
                    yield return recent[random.Next(Math.Min(requests, Recent))];
                }
            }
        }
    }

    // Files that were used recently are used again.
    private static IEnumerable<int> Recency(Random random) =>
        GeneratedTraces.StackDistances(random, random.Next(2, 10), 1.3 + (random.NextDouble() * 0.5));

    private static IEnumerable<int> Phases(Random random)
    {
        Func<Random, IEnumerable<int>>[] programs = [.. _programs, Recency];
        for (var phase = 0; ; phase++)
        {
            var length = random.Next(2_000, 12_000);
            foreach (var key in programs[random.Next(programs.Length)](random).Take(length))
            {
                yield return (phase * 5_000_000) + key;
            }
        }
    }

    // Some programs at once, each for a few requests.
    private static IEnumerable<int> InTurn(Random random, int count)
    {
        IEnumerator<int>[] programs = [.. Enumerable.Range(0, count).Select(_ => _programs[random.Next(_programs.Length)](random).GetEnumerator())];
        var longest = random.Next(5, 200);
        while (true)
        {
            var program = random.Next(count);
            for (var request = random.Next(longest); request >= 0; request--)
            {
                programs[program].MoveNext();
                yield return (program * 50_000_000) + programs[program].Current;
            }
        }
    }

    private static int[] Starts(int count, Func<int> nextLength)
    {
        var end = 0;
        return [0, .. Enumerable.Range(0, count).Select(_ => end += nextLength())];
    }

    private static IEnumerable<int> PagesOf(int[] files, int[] starts) => files.SelectMany(file => Enumerable.Range(starts[file], starts[file + 1] - starts[file]));

    private static int[] Some(int count, Func<int> next) => [.. Enumerable.Range(0, count).Select(_ => next()).Distinct()];
}
