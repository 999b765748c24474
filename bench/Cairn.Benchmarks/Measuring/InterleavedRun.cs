using System.Runtime;

namespace Cairn.Benchmarks.Measuring;

// Measures every contender once in every round, one after the other, so that disturbances of the machine affect all of them
// alike. The order rotates by one in each round, so that no contender is always first.
internal static class InterleavedRun
{
    // The runtime recompiles a method after 30 calls, and again after 30 more with the profile of those. A background thread does
    // this after 100 ms without new compilations. Three passes are the minimum in which both can happen.
    private const int LeastWarmUpPasses = 3;
    private const int MostWarmUpPasses = 6;
    private static readonly TimeSpan CompilerPause = TimeSpan.FromMilliseconds(150);

    /// <summary>Returns each contender's samples in the order of the rounds.</summary>
    /// <param name="contenders">The contenders.</param>
    /// <param name="rounds">How often each is measured.</param>
    /// <param name="reportProgress">Receives what is being done.</param>
    /// <param name="failed">Receives a contender that fails. The run continues without it. Without this parameter, the run fails.</param>
    public static IReadOnlyDictionary<IContender, IReadOnlyList<Sample>> Run(
        IReadOnlyList<IContender> contenders, int rounds, Action<string> reportProgress, Action<IContender, Exception>? failed = null)
    {
        var broken = new HashSet<IContender>();
        WarmUp(contenders, reportProgress, Try);

        var samples = contenders.ToDictionary(contender => contender, _ => new List<Sample>(rounds));
        for (var round = 0; round < rounds; round++)
        {
            for (var turn = 0; turn < contenders.Count; turn++)
            {
                var contender = contenders[(round + turn) % contenders.Count];
                reportProgress($"round {round + 1} of {rounds}, {contender.Name}");
                Try(contender, () => samples[contender].Add(contender.Measure(round)));
            }
        }

        return samples.Where(pair => !broken.Contains(pair.Key)).ToDictionary(pair => pair.Key, pair => (IReadOnlyList<Sample>)pair.Value);

        void Try(IContender contender, Action act)
        {
            if (broken.Contains(contender))
            {
                return;
            }

            try
            {
                act();
            }
            catch (Exception failure) when (failed is not null && failure is not OutOfMemoryException)
            {
                broken.Add(contender);
                failed(contender, failure);
            }
        }
    }

    private static void WarmUp(IReadOnlyList<IContender> contenders, Action<string> reportProgress, Action<IContender, Action> attempt)
    {
        for (var pass = 0; pass < MostWarmUpPasses; pass++)
        {
            var compiledBefore = JitInfo.GetCompiledMethodCount();
            foreach (var contender in contenders)
            {
                reportProgress($"warm-up {pass + 1}, {contender.Name}");
                attempt(contender, contender.WarmUp);
            }

            Thread.Sleep(CompilerPause);
            if (pass + 1 >= LeastWarmUpPasses && JitInfo.GetCompiledMethodCount() == compiledBefore)
            {
                return;
            }
        }
    }
}
