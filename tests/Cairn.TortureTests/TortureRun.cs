using System.Globalization;
using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.TortureTests;

/// <summary>
/// One run of a torture test: its seed, which an environment variable can set, its length, and the command that repeats it. The run prints seed and
/// command at the start, so that a run that hangs or crashes can be repeated too.
/// </summary>
internal sealed class TortureRun
{
    private const string SeedVariable = "CAIRN_TORTURE_SEED";
    private const string LengthVariable = "CAIRN_TORTURE";

    private readonly string _test;

    public TortureRun(ITestOutputHelper output, [CallerMemberName] string test = "")
    {
        Seed = int.TryParse(Environment.GetEnvironmentVariable(SeedVariable), NumberStyles.None, CultureInfo.InvariantCulture, out int seed)
            ? seed
            : Random.Shared.Next();
        Random = new Random(Seed);
        _test = test;
        Replay = ReplayOf(Seed);
        output.WriteLine($"Seed {Seed}. Again: {Replay}");
        Console.WriteLine($"{test}: seed {Seed}. Again: {Replay}");
    }

    /// <summary>Gets whether the run takes hours rather than seconds: CAIRN_TORTURE=long.</summary>
    public static bool IsLong { get; } = Environment.GetEnvironmentVariable(LengthVariable) == "long";

    public int Seed { get; }

    public Random Random { get; }

    public string Replay { get; }

    /// <summary>Returns the command for a run that begins with another seed.</summary>
    public string ReplayOf(int seed) =>
        $"{(IsLong ? $"{LengthVariable}=long " : "")}{SeedVariable}={seed} ./test torture --filter {_test}";

    /// <summary>Returns the count for a short run or for a long one.</summary>
    public static int Count(int inShort, int inLong) => IsLong ? inLong : inShort;

    /// <summary>Returns a seed for one part of a run, such as a thread.</summary>
    public static int SeedOf(int seed, int part) => unchecked((int)(((uint)seed * 2_654_435_761) ^ ((uint)part * 40_503) ^ ((uint)seed >> 7)));

    public Random RandomFor(int part) => new(SeedOf(Seed, part));
}
