using System.Globalization;
using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.Server.Tests.Testing;

/// <summary>
/// Many random streams for one check: few, or many with CAIRN_FUZZ=long. The seed is printed. CAIRN_FUZZ_SEED repeats the stream of a seed and
/// those after it.
/// </summary>
internal sealed class SeededRun
{
    private const string LengthVariable = "CAIRN_FUZZ";
    private const string SeedVariable = "CAIRN_FUZZ_SEED";
    private const int PartsOfLongRun = 20;

    private readonly string _test;
    private readonly int _first;

    /// <param name="output">The output for the seed.</param>
    /// <param name="part">The part of a long run. Each part has its own streams, and is short enough not to look like a hang.</param>
    /// <param name="test">The name of the test.</param>
    public SeededRun(ITestOutputHelper output, int part, [CallerMemberName] string test = "")
    {
        _test = test;
        _first = int.TryParse(Environment.GetEnvironmentVariable(SeedVariable), NumberStyles.None, CultureInfo.InvariantCulture, out int seed)
            ? seed
            : Random.Shared.Next(int.MaxValue / 2);
        _first += part * 10_000_000;
        output.WriteLine($"First seed {_first}. Again: {Replay(_first)}");
    }

    /// <summary>Gets the parts of a run for a theory.</summary>
    public static TheoryData<int> Parts => [.. Enumerable.Range(0, IsLong ? PartsOfLongRun : 1)];

    private static bool IsLong { get; } = Environment.GetEnvironmentVariable(LengthVariable) == "long";

    /// <summary>Returns the seeds of a short run, or of a part of a long one.</summary>
    public IEnumerable<int> Seeds(int inShort, int inPartOfLong) => Enumerable.Range(_first, IsLong ? inPartOfLong : inShort);

    /// <summary>Returns the command that starts with this seed.</summary>
    public string Replay(int seed) => $"{SeedVariable}={seed} ./test server --filter {_test}";
}
